#pragma once
// Waits for a value and all that lies in it.
#include <vector>

#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// On behalf of an armed strand, which keeps the variable alive, and with it everything inside. A stack of futures
/// still to be looked at; enlisted with one at a time.
class DeepWait final : public Cell, public Waiter {
 public:
  DeepWait(StrandState& state, Future& variable, AwaitMode mode) : state_(state), mode_(mode), todo_{&variable} {}
  void run(Worker&) override {}  // never queued
  void resolved(Worker& worker) override;
  /// @return true: enlisted, do not touch this any more; false: everything is there
  bool advance();
  StrandState& state() const { return state_; }

 private:
  StrandState& state_;
  const AwaitMode mode_;
  std::vector<Future*> todo_;
};

}  // namespace raddle::vm
