#pragma once
// A call of a library function with a priority.
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Its inputs are set. Owns a reference to the calling frame.
class BuiltinTask final : public Cell {
 public:
  BuiltinTask(Frame& frame, std::uint32_t instruction) : frame(frame), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
};

}  // namespace raddle::vm
