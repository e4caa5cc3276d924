#pragma once
// Index launches as data: what a `foreach` of the IR does when all of its iterations are points of one kernel. The
// operation has the launch space, its operands, and the fallback, its region; an entry of its function's table has the
// rest. verify() compares the entry with the region, so that neither can change without the other.
// Source of the terms: Bauer, Treichler, Slaughter, Aiken, "Legion" (SC 2012); Soi et al., "Index Launches" (SC 2021).
#include <vector>

#include "compiler/ir/ids.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle::ir {

/// What a point does with an element of an array, or with an updateable: the last three.
enum class AccessMode : std::uint8_t { read, write, increment, minimum, scale };
/// By AccessMode, as the IR's text has them.
inline constexpr const char* access_modes[] = {"read", "write", "incr", "min", "scale"};

inline bool is_element(AccessMode mode) { return mode == AccessMode::read || mode == AccessMode::write; }

/// One key of an element that a point reads or writes: how the point is projected to one dimension of the data.
struct Key {
  enum class Kind : std::uint8_t {
    point,     ///< the point itself
    same,      ///< `operand`, from outside of the loop: the same for all points
    computed,  ///< the result `result` of the launch's projection
  };
  Kind kind = Kind::point;
  Operand operand = {};
  std::uint32_t result = none;
  bool operator==(const Key&) const = default;
};

struct Access {
  AccessMode mode = AccessMode::read;
  Operand data;           ///< an array or an updateable from outside of the loop
  std::vector<Key> keys;  ///< from the outside in: of rows, then of the element; none of an updateable
  Span span;              ///< of the assignment; of a read: of the element
};

/// Parameters of the kernel: the point, the elements that are read in the order of `accesses`, `captures`; with a
/// launch over an array the point is the key. Its outputs are the values of all other accesses, in their order.
struct IndexLaunch {
  FunctionId kernel = none;
  std::vector<Operand> captures = {};
  std::vector<Access> accesses = {};  ///< reads first
  /// Computes keys from a point. Its parameters: the point, `projected`; its outputs: keys, numbered by their first
  /// use in `accesses`. none: no key is computed, and no element is read but within arrays among the captures.
  FunctionId projection = none;
  std::vector<Operand> projected = {};
};

/// A loop whose iterations consist of one index launch over a range that is the same for all of them, and of scalars
/// that they compute for it: one launch space of two dimensions.
struct LaunchNest {
  LaunchId launch = none;         ///< of the loop within
  FunctionId prelude = none;      ///< computes `values`; its parameters: the outer loop's variable, `captures`
  std::vector<Operand> captures;  ///< from outside of the outer loop
  std::vector<VarId> values;      ///< of the outer loop's body, see nest_values()
};

}  // namespace raddle::ir
