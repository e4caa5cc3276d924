#pragma once
// A call of a function in Python.
#include <cstdint>
#include <expected>
#include <vector>

#include "vm/foreign/python_function.hpp"
#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// Owns a reference to the function's frame, whose variables hold the inputs. Whoever has the last answer fills
/// `outcome`, then injects it (publishing it).
class PythonCall final : public Cell {
 public:
  PythonCall(Frame& frame, std::uint32_t instruction) : frame(frame), instruction(instruction) {}
  void run(Worker& worker) override;

  Frame& frame;
  const std::uint32_t instruction;
  std::expected<std::vector<Value>, PythonExchange::Problem> outcome;
};

}  // namespace raddle::vm
