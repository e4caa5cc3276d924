#pragma once
// All that is assigned to and read from each variable, found by one walk over the bodies.
#include "compiler/check/writes.hpp"

namespace raddle::check_detail {

struct Read {
  Path path;  ///< fields only: reading an element is reading the array
  Span span;
  bool awaits = true;  ///< false: `filename(f)`, which does not need the file itself
};

struct VariableUse {
  std::vector<Write> writes;
  std::vector<Read> reads;
  bool is_mapped = false;      ///< `file f<"name">`
  bool is_declared = false;    ///< by a statement or as a formal of a function with a body
  bool is_implicit = false;    ///< declared by an assignment
  std::size_t loop_depth = 0;  ///< number of loops around its declaration
};

/// Walks all bodies; reports what is assigned twice and what waits for itself.
/// @return  indexed by VariableId
std::vector<VariableUse> collect_use(Context& context);

}  // namespace raddle::check_detail
