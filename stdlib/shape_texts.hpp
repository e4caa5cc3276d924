#pragma once
// What is said of shapes that do not fit and of indices that are outside: in the same words when a script is checked
// and when it runs.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace raddle::stdlib {

/// In a shape: an extent that is not known, or may be any. It is told as `:`.
inline constexpr std::int64_t any_extent = -1;
using Extents = std::span<const std::int64_t>;

struct NamedShape {
  Extents extents;
  std::string_view name = "";  ///< as a user knows it, without backticks; "": none
};

/// Which other array gives an extent, and by which name in the formals; each may be "".
struct SharedExtent {
  std::string_view other = "";  ///< "`x`", "argument 1"
  Extents shape = {};
  std::string_view extent = "";
};

/// "[2, :]".
std::string shape_text(Extents shape);
/// "shapes [2, 3] of `A` and [3, 2] of `B` do not fit in `+`", and what would make them fit if that is simple.
std::string unfit_text(std::string_view what, NamedShape first, NamedShape second);
/// @param name  "`z`", "argument 2 of `dot`"
std::string wanted_shape_text(std::string_view name, Extents wanted, Extents found, const SharedExtent& shared = {});
std::string unfit_slice_text(Extents found, Extents slice);
/// @param array  as NamedShape::name
std::string index_outside_text(std::int64_t index, std::size_t axis, NamedShape array);
std::string slice_outside_text(std::int64_t first, std::int64_t last, std::size_t axis, NamedShape array);
std::string no_axis_text(std::int64_t axis, std::int64_t rank);

/// `first:last`, of which the last one may be right before the first: then it is empty.
bool is_slice_within(std::int64_t first, std::int64_t last, std::int64_t extent);

}  // namespace raddle::stdlib
