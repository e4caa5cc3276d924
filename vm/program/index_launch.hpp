#pragma once
// Index launches and nests of them as the VM has them: made of ir::IndexLaunch and ir::LaunchNest by
// compiler/emit/launch_sites.
#include <cstdint>
#include <vector>

#include "vm/program/operand.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// What an index launch takes from outside: a future of the frame around, or a value of the nest's prelude.
struct LaunchInput {
  Operand operand;              ///< absent: it is a value
  std::uint32_t value = no_id;  ///< index of a result of LaunchNest::prelude
  bool is_needed = false;       ///< of a capture: without it no point gives any result
};

/// A key of an element that a point of an index launch reads or writes: stride * point + base + offset, or computed.
struct LaunchKey {
  std::uint32_t result = no_id;  ///< of the projection; no_id: the key is affine
  std::int64_t stride = 0, offset = 0;
  LaunchInput base = {};  ///< absent, and no value: 0
  bool is_affine() const { return result == no_id; }
};

/// Where a result of an index launch goes.
struct LaunchSink {
  enum class Kind : std::uint8_t { element, increment, minimum, scale, row };
  Kind kind;
  Operand target;  ///< element, row: the array; else the updateable
  Place place;     ///< of the assignment
  /// Among the launch's keys: of rows within `row_keys`, the last one of the element. 0: the key is the point
  std::uint32_t first_key = 0, key_count = 0;
  std::vector<LaunchInput> row_keys = {};  ///< of the rows that all elements lie in
  Operand width = {};  ///< row: how many elements each point writes, those from as many times the row's number on
  LaunchKey row = {.stride = 1};  ///< its number
  bool is_of_array() const { return kind == Kind::element || kind == Kind::row; }
  /// All elements lie in one row.
  bool is_fixed() const { return key_count <= 1; }
};

/// An element that a point of an index launch reads.
struct LaunchRead {
  Operand array;
  std::uint32_t first_key = 0, key_count = 0;  ///< among those of the launch: of rows, the last one of the element
};

/// What a launch waits for, of arrays that other launches are not about to fill.
enum class LaunchStart : std::uint8_t {
  at_elements,  ///< each point for its elements
  at_arrays,    ///< for all elements of the arrays that it reads, as whole-array operations do
  at_last,      ///< for the last element that it reads of each, as loops around write others of them
};

/// Iterations that only compute scalars, which they write to elements of arrays and add to updateables. A leaf function
/// makes them. Operands: seen from the frame around.
/// Without keys the elements are those with the number of the iteration, the point; many points are made at a time
/// (leaf_abi.hpp, Note [stretches]). Else the launch is projected: elements are read and written by keys, those of all
/// reads, then of all sinks but for `row_keys`. Those that are not affine a leaf function computes, the projection, of
/// the point and `projected`. Parameters of the leaf: the point, the elements that are read, `captures`.
struct IndexLaunch {
  FunctionId leaf = no_id;  ///< no_id: the loop is no index launch
  std::vector<LaunchInput> captures = {};
  std::vector<LaunchSink> sinks = {};  ///< by result
  FunctionId projection = no_id;
  std::vector<LaunchInput> projected = {};
  std::vector<LaunchRead> reads = {};
  std::vector<LaunchKey> keys = {};
  LaunchStart start = LaunchStart::at_elements;
  bool waits_for_code = false;  ///< its one point is a kernel of very many rounds
  bool reads_point = true;      ///< the leaf's results depend on the point itself, as far as can be seen
  bool is_projected() const { return !keys.empty(); }
  bool has_rows() const;
  /// Each read and sink is about elements of one row, which follow each other as points do, with this step.
  bool is_contiguous(std::int64_t step) const { return has_streams(step, /*same=*/false); }
  /// The same, or a read is about the same element for all points.
  bool has_streams(std::int64_t step) const { return has_streams(step, /*same=*/true); }
  /// What points read is as has_streams() says; what they write lies equally far apart.
  bool has_spread_streams(std::int64_t step) const;

 private:
  bool has_streams(std::int64_t step, bool same) const;
  bool reads_follow(std::int64_t step, bool same) const;
};

/// A loop whose iterations consist of one index launch over a range that is the same for all, and of scalars that they
/// compute for it: the prelude, a leaf function. Its parameters: the outer loop's variable, `captures`. Operands: seen
/// from the frame around the outer loop, but for `values`.
struct LaunchNest {
  FunctionId prelude = no_id;  ///< no_id: the loop is no nest
  std::vector<Operand> captures = {};
  Operand low, high, step;           ///< of the inner loop
  std::vector<Operand> values = {};  ///< by result of the prelude: the variable of the outer loop's body
  std::uint32_t inner = no_id;       ///< the inner loop's instruction
  bool is_chained = false;           ///< points read elements of arrays that others write
};

}  // namespace raddle::vm
