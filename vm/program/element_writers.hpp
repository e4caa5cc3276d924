#pragma once
// Where elements of an array are assigned, for the message where one is assigned twice.
#include <cstdint>
#include <vector>

#include "vm/program/operand.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// An operation that assigns elements, and which ones, as far as the frame of the array's body tells that. Operands are
/// seen from there.
struct ElementWriter {
  struct Range {
    Operand low, high, step;
  };
  /// Of a key in postfix form.
  struct KeyStep {
    enum class Kind : std::uint8_t { value, counter, add, subtract, multiply };
    Kind kind = Kind::value;
    Operand value = {};
    std::uint32_t counter = 0;  ///< of which loop
  };
  Place place;
  bool is_once = false;           ///< what stands there can not assign an element twice by itself
  bool is_sure = false;           ///< no branch is around it
  std::vector<Range> loops = {};  ///< around it, from the outside in
  std::vector<KeyStep> key = {};  ///< empty: not known
};

struct ElementWriters {
  BodyId body = no_id;  ///< the array's
  std::vector<ElementWriter> all;
};

}  // namespace raddle::vm
