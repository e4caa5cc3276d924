#pragma once
// Which task where, and which data go: the one interface of all policies.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/place/placed_task.hpp"
#include "vm/place/residency.hpp"

namespace raddle::vm {

/// Why a victim is wanted.
enum class LoadKind : std::uint8_t {
  demand,    ///< for the first task of the buffer, and the device is idle
  prefetch,  ///< for a task that does not run next
};

/// What policies look at. Both outlive them.
struct PlacementView {
  const PlacedTasks& tasks;
  const Residency& residency;
};

/// Gives released tasks to devices that ask, and names what they evict. Threads: one.
/// Source: S. Gonthier, S. Thibault, L. Marchal, "A generic scheduler to foster data locality for GPU and out-of-core
/// task-based applications", 2024
class Policy {
 public:
  explicit Policy(const PlacementView& view) : tasks_(view.tasks), residency_(view.residency) {}
  virtual ~Policy() = default;

  /// There is one more datum (Residency::add).
  virtual void added(DataId) {}
  /// A task touches it that no device has got yet, and that may not be released yet, either. Told for each operand
  /// before the task is released. @param order  PlacedTask::order
  virtual void expected(DataId, [[maybe_unused]] std::uint64_t order) {}
  /// Such a task will never be released.
  virtual void unexpected(DataId, [[maybe_unused]] std::uint64_t order) {}
  /// These may run now. @param by  the device where the last task that they waited for has ended; none: at the start
  virtual void released(std::span<const TaskId> tasks, std::optional<DeviceId> by, std::int64_t now_ns) = 0;
  /// The device has room in its buffer. @return the task that goes there, at once; none: there is nothing for it now
  virtual std::optional<TaskId> next(DeviceId device) = 0;
  /// The device has no room. By default the least recently used copy that no task of its buffer needs, or, on demand,
  /// that the first of them does not need. @return one of Residency::first_evictable() and following; none: wait
  virtual std::optional<DataId> victim(DeviceId device, LoadKind load);

  /// The datum is near the device (Residency::near), or is so no longer.
  virtual void came(DeviceId, DataId) {}
  virtual void went(DeviceId, DataId) {}
  /// The device's copy is gone: evicted, or written elsewhere. A task of its buffer may need it nevertheless.
  virtual void dropped(DeviceId, DataId) {}

 protected:
  const PlacedTask& task(TaskId id) const { return tasks_[id]; }
  const PlacedTasks& tasks() const { return tasks_; }
  const Residency& residency() const { return residency_; }
  bool needs_first(DeviceId device, DataId data) const;  ///< the first task of its buffer

 private:
  const PlacedTasks& tasks_;
  const Residency& residency_;
};

/// @return null if there is none of that name
std::unique_ptr<Policy> make_policy(std::string_view name, const PlacementView& view);
struct PolicyName {
  std::string_view name, about;
  std::unique_ptr<Policy> (*make)(const PlacementView& view);
};
std::span<const PolicyName> policy_names();
inline constexpr std::string_view default_policy = "darts-order";

}  // namespace raddle::vm
