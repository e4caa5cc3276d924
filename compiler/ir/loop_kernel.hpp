#pragma once
// Loops that fill arrays, as data: what a `for` of the IR does when many of its iterations are one call of a kernel.
// The operation has the fallback, its regions; an entry of its function's table has the rest. verify() compares the
// two.
#include <cstdint>
#include <vector>

#include "compiler/ir/ids.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle::ir {

/// An operation of the loop's body that inserts numbers into an array from outside.
struct LoopSink {
  Operand array;
  bool is_sometimes = false;  ///< in a branch: an iteration may insert nothing
  /// Iterations read what those up to so many before them have inserted. Then each one inserts, and its key is
  /// `stride` more than that of the one before. 0: they read nothing of the array.
  std::int64_t history = 0, stride = 0;
  Span span;  ///< of the assignment
};

/// Parameters of the kernel: how many iterations it may run, the loop's variables, `captures`, and for each sink with a
/// history how many of its elements are there. Outputs: the loop's variables where the next iteration begins (or there
/// is none), how many iterations were run, for each sink with a history the key of the first one, and for each sink two
/// rows: the keys of the iterations and what they insert, behind what is there of the history.
struct LoopKernel {
  FunctionId kernel = none;
  std::vector<Operand> captures = {};
  std::vector<LoopSink> sinks = {};  ///< in the order of the body
};

}  // namespace raddle::ir
