#pragma once
// Calls of AppKernels that wait for a device.
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stop_token>
#include <vector>

#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// Calls of one kernel that wait come out together, as a bundle: so a device that is busy gets large ones, and one that
/// has nothing to do gets each call at once. Threads: any.
class CallQueue {
 public:
  /// An array of so many bytes is copied by itself, once for all calls that read it.
  static constexpr std::size_t large_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_calls = 4096;  ///< of a bundle
  static constexpr std::size_t most_bytes =
      std::size_t{256}
      << 20;  ///< that its calls read and fill, without large arrays that they read; a call may have more

  void push(vm::DeviceCall call);
  /// What waits now.
  std::vector<vm::DeviceCall> take_all();
  /// Waits for calls. @return at most so many, of one kernel; none: to stop
  std::vector<vm::DeviceCall> take(const std::stop_token& stop, std::size_t most = most_calls);

 private:
  static std::size_t bytes_of(const vm::DeviceCall& call);
  struct Bundle {
    std::deque<vm::DeviceCall> calls;
    std::size_t bytes = 0;
  };
  std::mutex mutex_;  ///< guards all below
  std::condition_variable_any changed_;
  std::deque<Bundle> bundles_;  ///< in the order of their first calls
  unsigned waiting_ = 0;        ///< threads: a push that finds none of them tells nobody
};

}  // namespace raddle::gpu
