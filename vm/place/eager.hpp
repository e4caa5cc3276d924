#pragma once
// One queue for all devices.
#include <deque>

#include "vm/place/policy.hpp"

namespace raddle::vm {

class Eager final : public Policy {
 public:
  using Policy::Policy;
  void released(std::span<const TaskId> tasks, std::optional<DeviceId>, std::int64_t) override {
    queue_.insert(queue_.end(), tasks.begin(), tasks.end());
  }
  std::optional<TaskId> next(DeviceId) override {
    if (queue_.empty()) return std::nullopt;
    const TaskId first = queue_.front();
    queue_.pop_front();
    return first;
  }

 private:
  std::deque<TaskId> queue_;
};

}  // namespace raddle::vm
