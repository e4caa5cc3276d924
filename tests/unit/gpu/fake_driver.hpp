#pragma once
// What tests say to the fake driver, and hear of it.
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace raddle::gpu {

/// Of this program, which lies elsewhere in each of its processes.
inline std::uint64_t program_base() {
  std::uint64_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* found) {
        *static_cast<std::uint64_t*>(found) = program->dlpi_addr;
        return 1;  // it is the first one
      },
      &base);
  return base;
}
/// How the text of a module has a function of this program.
template <typename Function>
std::uint64_t text_address(Function* function) {
  return reinterpret_cast<std::uint64_t>(function) - program_base();
}

/// Got by dlsym("raddle_fake_driver") of the library that is loaded. Any thread, and all processes that the one which
/// has got it starts from then on.
struct FakeDriver {
  std::atomic<int> devices{1};                            ///< RADDLE_FAKE_GPUS
  std::atomic<int> unfit{-1};                             ///< RADDLE_FAKE_UNFIT: one that can not be used
  std::atomic<int> version{12000};                        ///< RADDLE_FAKE_CUDA
  std::atomic<int> launch_error{0};                       ///< of the next launch
  std::atomic<int> allocation_error{0};                   ///< of the next memory that is asked for
  std::atomic<int> broken{0};                             ///< of all that comes after one of both,
  std::atomic<void*> broken_context{nullptr};             ///< in its context,
  std::atomic<int> broken_process{0};                     ///< in its process
  std::atomic<int> endless_launches{0};                   ///< so many of the next ones never end
  std::atomic<int> deadly_launches{0};                    ///< so many of the next ones end their process
  std::atomic<std::size_t> memory{std::size_t{8} << 30};  ///< of each card
  std::atomic<bool> is_held{false};                       ///< launches wait until it is not
  std::atomic<bool> is_dead{false};          ///< RADDLE_FAKE_DEAD: super kernels fail when they are launched
  std::atomic<bool> is_hung{false};          ///< the next one never beats, and never ends
  std::atomic<void*> hung_context{nullptr};  ///< where one is,
  std::atomic<int> hung_process{0};          ///< and in which process
  std::atomic<bool> pins_nothing{false};     ///< memory can not be registered
  std::atomic<int> registers{40};            ///< of all kernels
  // what there is now
  std::atomic<int> contexts{0}, modules{0}, allocations{0};
  // so far
  std::atomic<int> launches{0}, super_launches{0};
  std::atomic<int> waits{0};              ///< for streams
  std::atomic<int> compiled{0}, kept{0};  ///< texts of modules: CUDA_CACHE_PATH has had the second ones
  std::atomic<int> processes{0};          ///< that have begun with a driver
  std::atomic<int> last_process{0};       ///< the last one of them
  std::atomic<std::size_t> bytes_in{0};
};

/// As it is at first. It is the same for all tests of a process: the library is never unloaded.
FakeDriver& fake_driver();

}  // namespace raddle::gpu
