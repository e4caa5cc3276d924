#pragma once
// Calls of AppKernels on a device of host threads.
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "gpu/call_placement.hpp"
#include "gpu/call_queue.hpp"
#include "gpu/memory/card_memory.hpp"
#include "gpu/simulated/card_model.hpp"
#include "vm/device/devices.hpp"

namespace raddle::gpu {

/// Each of its threads is a warp that runs calls as code of the host: one at a time, or, for a model, all that a card
/// would get at once. Large arrays are read and filled in the card's memory. The threads start with the first call.
/// Threads: any.
class SimulatedCalls {
 public:
  /// @param memories  of the cards  @param clock  of the model that they stand for, or null; both outlive this
  /// @param way  which card gets which call with large arrays
  SimulatedCalls(unsigned warps, std::deque<CardMemory>& memories, ModelClock* clock, CallPlacing way);
  ~SimulatedCalls();
  void prepare(const vm::ForeignFunction& function, vm::AppKernelCompiler& compiler, const vm::Devices::Prepared& done);
  void submit(vm::DeviceCall call);
  /// As Devices::problem().
  std::string problem() const;

 private:
  void work(const std::stop_token& stop);
  void run(const CallBundle& bundle);
  bool run_there(const ModelClock::Taken& taken, bool is_placed, std::span<const vm::DeviceCall> calls,
                 std::span<vm::EndedCall> ended);
  static void run_calls(std::span<const vm::DeviceCall> calls, const CardMemory::Hold& hold,
                        std::span<const Operand> results, std::span<vm::EndedCall> ended, ModelledWork& work,
                        std::vector<std::size_t>& made, CopyEngine& engine);
  vm::DeviceOutcome load_ahead(unsigned card, std::int64_t from_ns);
  void note_lack_of_room(const vm::DeviceCall& call);

  const unsigned warps_;
  std::deque<CardMemory>& memories_;
  ModelClock* const clock_;
  CallQueue queue_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::string problem_;
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::gpu
