#pragma once
// What tests say to the fake driver, and hear of it.
#include <atomic>
#include <cstddef>

namespace raddle::gpu {

/// Got by dlsym("raddle_fake_driver") of the library that is loaded. Any thread.
struct FakeDriver {
  std::atomic<int> devices{1};                            ///< RADDLE_FAKE_GPUS
  std::atomic<int> version{12000};                        ///< RADDLE_FAKE_CUDA
  std::atomic<int> launch_error{0};                       ///< of the next launch
  std::atomic<int> broken{0};                             ///< of all that comes after such a launch,
  std::atomic<void*> broken_context{nullptr};             ///< in its context
  std::atomic<std::size_t> memory{std::size_t{8} << 30};  ///< of each card
  std::atomic<bool> is_held{false};                       ///< launches wait until it is not
  std::atomic<bool> is_dead{false};                       ///< super kernels fail as soon as they are launched
  std::atomic<bool> is_hung{false};                       ///< they never beat, and never end
  std::atomic<void*> hung_context{nullptr};               ///< where one is
  std::atomic<int> registers{40};                         ///< of all kernels
  // what there is now
  std::atomic<int> contexts{0}, modules{0}, allocations{0};
  // so far
  std::atomic<int> launches{0}, super_launches{0};
  std::atomic<std::size_t> bytes_in{0};
};

/// As it is at first. It is the same for all tests of a process: the library is never unloaded.
FakeDriver& fake_driver();

}  // namespace raddle::gpu
