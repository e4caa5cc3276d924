#pragma once
// Waits for a value and all that lies in it.
#include <cstdint>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

/// The futures in a container or structure that is there. Fields count as far as `closed` looks, elements only for
/// `deep`.
template <typename Visit>
void for_each_inner(const Future& future, AwaitMode mode, const Visit& visit) {
  const ValueKind kind = future.kind();
  if (kind == ValueKind::structure) {
    Structure& structure = object_in<Structure>(future);
    for (std::size_t i = 0; i < structure.field_count(); ++i) visit(structure.field(i));
  }
  if (mode != AwaitMode::deep) return;
  if (kind == ValueKind::array) object_in<Array>(future).for_each_future(visit);
  if (kind == ValueKind::bag) object_in<Bag>(future).for_each_future(visit);
}

/// How deeply a value is there.
enum class Depth : std::uint8_t { unset, set, failed };

/// Looks into structures and files, with `deep` also into arrays and bags.
Depth depth_of(const Future& future, AwaitMode mode = AwaitMode::deep);

/// A failure in a value or, through closed containers and files, in it; none if there is none.
Value failure_in(const Future& future);

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
