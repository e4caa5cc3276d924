#pragma once
// Who keeps copies of buffers hears which of these are gone.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace raddle::vm {

/// Numbers of buffers (Buffer::number()) that were freed as long as this lives. Threads: any.
class FreedBuffers {
 public:
  FreedBuffers();
  ~FreedBuffers();
  FreedBuffers(const FreedBuffers&) = delete;
  FreedBuffers& operator=(const FreedBuffers&) = delete;
  /// Those that were freed since this was last asked for.
  std::vector<std::uint64_t> take();
  /// Tells all of them. @pre nobody uses the buffer any more
  static void tell(std::uint64_t number);

 private:
  std::mutex mutex_;
  std::vector<std::uint64_t> numbers_;  ///< guarded by it
  /// A hint, so that who asks often takes no lock. Relaxed: a number that is seen late is taken later; what a copy is
  /// of is told by its number, which nobody else gets.
  std::atomic<bool> has_some_{false};
};

}  // namespace raddle::vm
