#pragma once
// What is known of a `foreach` when its iterations are shared out.
#include <atomic>
#include <cstdint>

namespace raddle::vm {

/// What a `foreach` of the script has been seen to do, in all its activations. Hints: written by whoever runs a
/// stretch, or queues the loop, all relaxed.
struct LoopProfile {
  std::atomic<std::int64_t> count{0};         ///< iterations of the loop that was last queued: for devices
  std::atomic<std::int64_t> iteration_ns{0};  ///< of the last stretch; 0: not known
  std::atomic<bool> is_native{false};         ///< machine code took so long, for some of them at least
  std::atomic<bool> queues{false};            ///< the last stretch has queued tasks
  std::atomic<bool> waits{false};             ///< some of its iterations have waited for something
  std::atomic<std::int32_t> caution{0};       ///< (short) stretches to run before the loop is split again
  std::atomic<bool> lends{false};             ///< the upper half was not there any more when it was last lent
};

}  // namespace raddle::vm
