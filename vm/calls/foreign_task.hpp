#pragma once
// A call of a function in Tcl by the rank that it needs.
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Its inputs are set. Owns a reference to the function's frame.
class ForeignTask final : public Cell {
 public:
  ForeignTask(Frame& frame, std::uint32_t instruction) : frame(frame), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
};

}  // namespace raddle::vm
