#pragma once
// A frame: one activation of a body. Its futures, pointers to the futures that its outputs are, states of its strands.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include "vm/interpret/loop_window.hpp"
#include "vm/memory/cell_store.hpp"
#include "vm/program/program.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

class Frame;
class Run;

/// A strand that waits: it awaits its inputs one after the other, enlisted with one future at a time, so that it needs
/// no counter. Lies in its frame; made when it is first armed. While it is armed or queued it owns a reference to the
/// frame. `is_waiting` is written by whoever owns the state and read when the run has come to rest.
class StrandState final : public Waiter, public Task {
 public:
  StrandState(Frame& frame, StrandId strand) : frame(&frame), strand(strand) {}
  void resolved(Worker& worker) override;  ///< looks at the next input
  void run(Worker& worker) override;       ///< all are there

  Frame* frame;
  StrandId strand;
  std::uint32_t next = 0;  ///< input that is awaited
  bool is_waiting = false;
  std::int32_t followed_rank = RankWish::any;  ///< RunWorker::followed_rank, while it is queued
};

/// Memory: this object, then `future_count` futures, `output_count` 16-byte slots with a Future*, `state_count` states
/// (zeroed until made).
///
/// Ownership: references_ counts armed strands, frames inside or called (their `outer`), forwarders to and from its
/// futures, and whoever is just activating it. The outer chain keeps alive all futures that outputs point to: a
/// callee's `outer` is its caller, or, when the caller has passed all of its outputs straight on (tail call) in a deep
/// chain, the caller's `outer`.
class Frame final : public Cell {
 public:
  static std::size_t size_of(const Body& body) {
    return sizeof(Frame) + (body.future_count + body.output_count) * sizeof(Future) +
           body.state_count * sizeof(StrandState);
  }
  /// @param outer  a reference is taken over by the caller of this constructor
  Frame(Run& run, const Body& body, Frame* outer, std::uint64_t stream);
  ~Frame() override;

  /// Runs the body, then gives up a reference.
  void run(Worker& worker) override;

  Future* slots() { return reinterpret_cast<Future*>(this + 1); }
  const Future* slots() const { return reinterpret_cast<const Future*>(this + 1); }
  void set_output(std::uint32_t number, Future& future) {
    *reinterpret_cast<Future**>(slots() + body.future_count + number) = &future;
  }
  /// The future that an operand of an instruction of this frame's body names.
  Future& at(Operand operand) { return operand.is_plain() ? slots()[operand.bits()] : find(operand); }
  StrandState* state(std::uint32_t index) {
    return reinterpret_cast<StrandState*>(slots() + body.future_count + body.output_count) + index;
  }
  /// null: never armed. Memory that holds no state yet is zero; a state begins with its vtable pointer.
  StrandState* made_state(std::uint32_t index) {
    std::uintptr_t first_word;
    std::memcpy(&first_word, static_cast<const void*>(state(index)), sizeof first_word);
    return first_word != 0 ? state(index) : nullptr;
  }
  bool is_function() const { return body.parent == no_id; }
  /// Where the function was called that this lies in; else the instruction's place.
  Place place_of_call(std::uint32_t instruction) const;
  /// True if nobody but the caller can know this frame.
  bool is_exclusive() const { return references_.load(std::memory_order_acquire) == 1; }
  /// relaxed: whoever retains holds a reference already
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  /// @return true if it was the last one: the caller destroys the frame
  bool drop() {
    // the last owner needs no locked instruction: nobody else can reach the count
    if (references_.load(std::memory_order_acquire) == 1) return true;
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // acq_rel: sees all writes of the others
  }
  static constexpr std::uint32_t inside_placed = no_id - 1;
  /// What frames within this one have in `placed`.
  std::uint32_t inner_placed() const { return placed == no_id ? no_id : inside_placed; }
  /// All variables empty again, for another iteration. @pre is_exclusive()
  void reset();

  Run& run_state;
  const Body& body;
  Frame* outer;
  std::uint64_t stream;                ///< identity for counter-based random numbers, the same in every schedule
  Ref<LoopWindow> window;              ///< of the loop whose open iteration this is; null: not counted there
  std::uint32_t call_site = no_id;     ///< function frames: the instruction that called
  std::uint32_t attempted_at = no_id;  ///< frames of attempts: their instruction
  std::uint32_t depth = 0;             ///< length of the outer chain
  std::uint32_t call_depth = 0;        ///< calls in the outer chain
  std::int32_t priority = 0;           ///< of what is queued for it: the call's, inherited
  RankWish rank;                       ///< of what is called in it: the call's `@location`, inherited
  std::int32_t followed_rank = RankWish::any;  ///< RunWorker::followed_rank, while it is queued
  /// Some variable of this frame has failed: instructions look at their operands first. Inherited by frames inside.
  /// relaxed: a strand that reads a failed variable follows the strand that saw it fail
  std::atomic<bool> careful{false};
  /// Of an attempt: something in it has failed. Written by whoever fails, read when all of it is done
  std::atomic<bool> has_failed{false};
  /// Under `--memory`: the placed call whose callee this is; inside_placed: it lies within one; no_id: in none
  std::uint32_t placed = no_id;
  bool is_attempt = false;      ///< Note [attempts] in attempts.cpp
  bool interpret_only = false;  ///< native code gave up below this call (recursion too deep); inherited

 private:
  Future& find(Operand operand);
  void destroy_futures();
  std::atomic<std::uint32_t> references_{1};
};
static_assert(sizeof(Frame) % alignof(Future) == 0);

}  // namespace raddle::vm
