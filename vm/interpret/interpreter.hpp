#pragma once
// Runs strands.
//
// Files: interpreter.cpp the instruction loop; activation.cpp bodies, awaiting, passing on; containers.cpp arrays,
// bags, structures; calls.cpp functions and builtins; loops.cpp `for` and `iterate`; failing.cpp what depends on what
// has failed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/interpret/placed_calls.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/program/program.hpp"
#include "vm/value/array.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

class BuiltinReturn;
class BuiltinTask;

/// How a call is made whose callee could run at once.
enum class CallWay : std::uint8_t { queued, timed, in_place };

class Interpreter : WorkerService {
 public:
  explicit Interpreter(RunWorker& here) : WorkerService(here) {}

  // --- entered from tasks and waiters
  /// Runs the frame's body and what follows it (further iterations of a loop); gives up a reference to it.
  void activate(Frame* frame);
  /// The same, noted in the function's CallProfile if the frame is a call.
  void activate_timed(Frame* frame);
  /// All inputs of an armed strand are there. Gives up its reference to the frame.
  void run_woken(StrandState& state);
  /// Looks at the strand's inputs from state.next on; queues the strand if all are there.
  void resume_awaiting(StrandState& state);
  void finish_builtin(BuiltinReturn* ended);
  void run_builtin(BuiltinTask* task);

  // --- regions
  /// Looks at the region's strands in order: those whose inputs are there run now, the others are armed.
  /// @return what run_strand returns, of the last strand
  Frame* run_region(Frame& frame, RegionId region);
  void enter_arm(Frame& frame, const Arm& arm);
  /// The one writer that the instruction has of each array becomes as many as the region has that it enters.
  void share_writers(Frame& frame, const std::vector<WriterShare>& shares);
  /// Another activation may run on the C stack; else it is to be queued.
  bool may_nest() const;

  /// @param is_forced  it is not to wait
  void start_loop(Frame& frame, const Instruction& in, bool is_forced = false);

  // --- calls
  void call_now(Frame& frame, const CallSite& site, std::uint32_t instruction);
  /// Its arrays are there: it waits for its turn. Takes over a reference to the frame.
  void release_placed(Frame& frame, std::uint32_t instruction, std::uint64_t order,
                      const std::vector<BoundedMemory::Block*>& reads);
  void run_placed(const PlacedCalls::Taken& taken);
  void call_composite(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only);
  CallWay way_of_call(FunctionId function);
  /// The calls that follow are part of a loop that is shared out already: before this time none is shared.
  void share_no_calls_before(std::int64_t time_ns) { next_share_ns_ = time_ns; }
  /// The frame outside of that of a call.
  static Frame& frame_around(Frame& frame, const CallSite& site);

  // --- values of other frames
  /// Makes `target` (of `target_frame`, not yet shared) the value of `source`, now or when it is there.
  void pass(Future& source, Frame& source_frame, Future& target, Frame& target_frame);

  // --- failures
  /// The instruction does not run: its results fail.
  void fail_results(Frame& frame, const Instruction& in, const Value& failure);
  /// Of an element that a closed array does not have. If the array has failed, that is the cause; else it is a failure
  /// of whoever reads.
  Value missing_element(Frame& frame, std::uint32_t instruction, const Array& array, const Value& key);

 private:
  static constexpr unsigned nesting_limit = 512;             ///< activations on the C stack; further calls are queued
  static constexpr std::int64_t share_interval_ns = 50'000;  ///< of short calls
  /// Of calls that are made in place one of so many is timed: the clock takes as long as a call.
  static constexpr std::uint32_t calls_to_time = 16;
  /// Long calls are made in place when so many tasks wait: each keeps its caller's frame.
  static constexpr std::int64_t most_waiting_calls = 64;
  /// Stack that is left to an activation for its own blocks in blocks, which look at no limit: some 270 bytes each.
  static constexpr std::size_t nesting_reserve_bytes = std::size_t{384} * 1024;

  // --- interpreter.cpp
  Frame* run_strand(Frame& frame, const Strand& strand);
  bool queue_instead(Frame& frame, const Strand& strand);
  void put(Frame& frame, const Instruction& in, Value value) { here_.put(frame, in, std::move(value)); }

  // --- activation.cpp
  /// @return false: armed. `state` is null while the strand is looked at for the first time
  bool await_inputs(Frame& frame, const Strand& strand, StrandState* state);
  void announce_inputs(Frame& frame, const Strand& strand);
  StrandState* arm(Frame& frame, const Strand& strand);
  /// Makes `target`, a variable of `target_frame` that others may know, the value of `source` when it is there; a
  /// failure of the run at `instruction` if it has been assigned by then.
  void pass_later(Future& source, Frame& source_frame, Frame& target_frame, Operand target, std::uint32_t instruction);
  /// Makes `target`, an element or field of `container`, the value of `source`, now or when it is there; a failure of
  /// the run if it is a field that has been assigned by then.
  void pass_into(Future& source, Frame& source_frame, Future& target, const Value& container,
                 std::uint32_t instruction);

  // --- these return false if the instruction failed
  bool divide(Frame& frame, const Instruction& in);
  bool join_texts(Frame& frame, const Instruction& in);

  // --- containers.cpp; these, too
  bool array_get(Frame& frame, const Instruction& in);
  bool array_insert(Frame& frame, const Instruction& in);
  bool array_row(Frame& frame, const Instruction& in);
  bool bag_row(Frame& frame, const Instruction& in);
  bool array_new(Frame& frame, const Instruction& in);
  void array_list(Frame& frame, const Instruction& in);
  bool array_map(Frame& frame, const Instruction& in);
  bool array_range(Frame& frame, const Instruction& in);
  void bag_append(Frame& frame, const Instruction& in);
  void struct_make(Frame& frame, const Instruction& in);
  void struct_get(Frame& frame, const Instruction& in);
  bool struct_set(Frame& frame, const Instruction& in);

  // --- calls.cpp
  void call(Frame& frame, const Instruction& in);
  bool place_call(Frame& frame, const CallSite& site, std::uint32_t instruction);
  static std::int32_t priority_of(Frame& frame, Operand operand);
  void call_by_priority(Frame& frame, const CallSite& site, std::uint32_t instruction);
  bool is_due_to_share();
  Frame* enter_function(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only);
  /// Open calls take too much memory: reports which function has most of them and ends the run.
  std::pair<const std::string&, std::uint64_t> most_active(const Frame& frame) const;
  void end_for_depth(Frame& frame, std::uint32_t instruction);
  void end_for_memory(Frame& frame, std::uint32_t instruction);
  bool call_builtin(Frame& frame, const Instruction& in);
  bool call_builtin_now(Frame& frame, const Instruction& in);
  void set_results(Frame& frame, const Instruction& in, std::vector<Value>& results);

  // --- loops.cpp
  bool waits(Frame& frame, const Instruction& in);
  bool run_kernel_from_start(Frame& frame, const LoopSite& site);
  Frame* loop_test(Frame& frame, const Instruction& in);
  void end_loop(Frame& frame, const LoopSite& site, std::uint32_t instruction);
  Frame* next_iteration(Frame& frame, const LoopSite& site);

  // --- attempts.cpp
  void attempt(Frame& frame, const Instruction& in);

  // --- failing.cpp
  /// In a frame where something has failed: @return true if an operand has, and the results have been failed with it
  bool fails_with_operand(Frame& frame, const Strand& strand, const Instruction& in);
  Value failed_operand(Frame& frame, const Strand& strand, const Instruction& in);
  Value failed_input(Frame& frame, const Strand& strand, Operand operand);
  void fail_insert(Frame& frame, const Instruction& in, const Value& failure);

  std::uint64_t loop_pushed_ = 0;           ///< tasks that were queued when a loop last gave way
  std::uint32_t loop_turns_ = 0;            ///< iterations of loops since then
  std::uint32_t calls_in_place_ = 0;        ///< outside of loops
  std::int64_t next_share_ns_ = 0;          ///< before then no short calls are shared
  std::vector<Value> loop_values_;          ///< of the next iteration, while its frame is made anew
  std::uint32_t placing_ = no_id;           ///< placed call whose callee has no frame yet
  std::vector<Value> arguments_, results_;  ///< of the builtin being called
};

}  // namespace raddle::vm
