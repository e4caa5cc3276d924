#pragma once
// A call of a library function that ends later.
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Owns a reference to the calling frame. Whoever ends the call fills `outcome`, then injects it (publishing it).
class BuiltinReturn final : public Cell {
 public:
  BuiltinReturn(Frame& frame, std::uint32_t instruction) : frame(frame), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
  BuiltinOutcome outcome;
  std::int32_t rank = RankWish::any;  ///< that has answered
};

}  // namespace raddle::vm
