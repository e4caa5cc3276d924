#pragma once
// A call of a leaf function that can not go at once.
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

class Interpreter;

/// Waits for its arguments one after the other, then for code or for a worker. Owns a reference to the calling frame.
/// In exactly one of: a future's waiters, the leaf table's list, a queue of the pool, a worker.
class LeafCall final : public Cell, public Waiter {
 public:
  LeafCall(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t priority)
      : frame(frame), site(site), instruction(instruction), priority(priority) {}
  void run(Worker& worker) override;
  void resolved(Worker& worker) override;
  void queue(Interpreter& interpreter);

  Frame& frame;
  const CallSite& site;
  const std::uint32_t instruction;
  const std::int32_t priority;
  bool has_turn = false;         ///< is run when it comes out of the queue; else it has waited for code
  bool awaits_argument = false;  ///< read when the run has come to rest
  bool is_forced = false;        ///< the run came to rest while it waited: called now, as composite functions are
  bool is_replaced = false;      ///< by a forced one: has nothing to do any more when its argument comes
};

}  // namespace raddle::vm
