#pragma once
// A call whose place among others a policy chooses: Note [placed calls].
#include <atomic>
#include <vector>

#include "vm/interpret/deferred_call.hpp"
#include "vm/interpret/placed_calls.hpp"

namespace raddle::vm {

/// Waits for the arrays that it reads, for all at the same time: of each the policy hears as soon as it is there. Owns
/// a reference to the calling frame.
class PlacedCall final : public DeferredCall {
 public:
  PlacedCall(Frame& frame, const CallSite& site, std::uint32_t instruction, std::uint64_t order)
      : frame(frame), site(site), instruction(instruction), order_(order) {}
  void begin(RunWorker& here);
  void run(Worker& worker) override;
  void resolved(Worker& worker) override;  ///< all are there
  DeferredCall* replacement(CellCache& cache) override;
  /// @param array  that it reads; null: none
  void one_is_there(RunWorker& here, const Array* array);

  Frame& frame;
  const CallSite& site;
  const std::uint32_t instruction;

 private:
  const std::uint64_t order_;  ///< PlacedCalls::order_of_call()
  /// Arrays that are not there, and one while they are looked at. acq_rel: who lowers it to 0 sees what all others have
  /// noted, and nobody else touches the call any more
  std::atomic<std::uint32_t> missing_{1};
  std::vector<BoundedMemory::Block*> reads_;  ///< each once. Guarded by the mutex of PlacedCalls until missing_ is 0
};

/// One of the arrays, which is not there.
class PlacedArgument final : public Cell, public Waiter {
 public:
  PlacedArgument(PlacedCall& call, Future& argument) : call_(call), argument_(argument) {}
  void resolved(Worker& worker) override;
  void run(Worker&) override {}  ///< lies in no queue
  /// @return what it waits for; null: it is there, or has failed
  Future* missing() const;
  const Array* array() const;  ///< null: it has failed

 private:
  PlacedCall& call_;
  Future& argument_;
};

/// Of some call that is ready.
class PlacedTurn final : public Cell {
 public:
  explicit PlacedTurn(PlacedCalls& calls) : calls_(calls) {}
  void run(Worker& worker) override;

 private:
  PlacedCalls& calls_;
};

}  // namespace raddle::vm
