#pragma once
// Tasks go where a model of durations and transfers says that they end first: StarPU's dmdar and dmdas.
#include "vm/place/policy.hpp"
#include "vm/place/urgency.hpp"

namespace raddle::vm {

/// Within a device's queue the task that misses the fewest bytes is next.
/// Source: the same paper, section 3 and Algorithm 2
class ModelQueues final : public Policy {
 public:
  /// Among tasks that miss as much.
  enum class Order : std::uint8_t {
    arrival,
    priority,      ///< then arrival
    highest_only,  ///< those of the highest priority come before all others, whatever they miss
  };
  ModelQueues(const PlacementView& view, Order order)
      : Policy(view), order_(order), queues_(view.residency.device_count()), ends_ns_(view.residency.device_count()) {}
  void released(std::span<const TaskId> tasks, std::optional<DeviceId> by, std::int64_t now_ns) override;
  std::optional<TaskId> next(DeviceId device) override;

 private:
  std::int64_t end_ns(DeviceId device, const PlacedTask& task, std::int64_t now_ns) const;
  void insert(std::vector<Urgency>& queue, TaskId id);
  std::int64_t missing_bytes(DeviceId device, const PlacedTask& task) const;

  const Order order_;
  std::vector<std::vector<Urgency>> queues_;  ///< by device, in the order of the tasks
  std::vector<std::int64_t> ends_ns_;         ///< by device: of all that went there, as predicted
};

}  // namespace raddle::vm
