#pragma once
// Index launches as data: what a `foreach` of the IR does when all of its iterations are points of one kernel. The
// operation has the launch space, its operands, and the fallback, its region; an entry of its function's table has the
// rest. verify() compares the entry with the region, so that neither can change without the other.
// Source of the terms: Bauer, Treichler, Slaughter, Aiken, "Legion" (SC 2012); Soi et al., "Index Launches" (SC 2021).
#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/ir/ids.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle::ir {

/// What a point does with an element of an array; with an updateable: the next three; with a row: it writes as many
/// elements as its first key says, those from as many times its second key on, which goes up with the point.
enum class AccessMode : std::uint8_t { read, write, increment, minimum, scale, row };
/// By AccessMode, as the IR's text has them.
inline constexpr const char* access_modes[] = {"read", "write", "incr", "min", "scale", "row"};

inline bool is_element(AccessMode mode) { return mode == AccessMode::read || mode == AccessMode::write; }

/// One key of an element that a point reads or writes: how the point is projected to one dimension of the data.
struct Key {
  enum class Kind : std::uint8_t {
    point,     ///< the point itself
    same,      ///< `operand`, from outside of the loop: the same for all points
    affine,    ///< stride * point + `operand` + offset; the operand, if there is one, is from outside of the loop
    computed,  ///< the result `result` of the launch's projection
  };
  Kind kind = Kind::point;
  Operand operand = {};
  std::int64_t stride = 0, offset = 0;
  std::uint32_t result = none;
  bool has_operand() const { return kind == Kind::same || (kind == Kind::affine && operand.index != none); }
  bool operator==(const Key&) const = default;
};

struct Access {
  AccessMode mode = AccessMode::read;
  Operand data;           ///< an array or an updateable from outside of the loop
  std::vector<Key> keys;  ///< from the outside in: of rows, then of the element; none of an updateable
  Span span;              ///< of the assignment; of a read: of the element
};

/// Parameters of the kernel: the point, the elements that are read in the order of `accesses`, `captures`; with a
/// launch over an array the point is the key. Its outputs are the values of all other accesses, in their order; of
/// rows, which are the last ones, arrays.
struct IndexLaunch {
  FunctionId kernel = none;
  std::vector<Operand> captures = {};
  std::vector<Access> accesses = {};  ///< reads first
  /// Computes keys from a point. Its parameters: the point, `projected`; its outputs: keys, numbered by their first
  /// use in `accesses`. none: no key is computed.
  FunctionId projection = none;
  std::vector<Operand> projected = {};
  /// Points read elements, or write others than that of their own number. Else no element is read but within arrays
  /// among the captures, and the kernel is made for many points at once.
  bool is_projected() const {
    const auto is_for_points = [](const Access& access) {
      const auto is_projected = [](const Key& key) {
        return key.kind == Key::Kind::affine || key.kind == Key::Kind::computed;
      };
      const bool ends_with_point = access.keys.empty() || access.keys.back().kind == Key::Kind::point;
      if (access.mode == AccessMode::row) return false;
      return access.mode == AccessMode::read || !ends_with_point || std::ranges::any_of(access.keys, is_projected) ||
             std::ranges::count(access.keys, Key::Kind::point, &Key::kind) > 1;
    };
    return std::ranges::any_of(accesses, is_for_points);
  }
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
