#include "stdlib/shape_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace raddle::stdlib {
namespace {

std::string told(NamedShape array) {
  return shape_text(array.extents) + (array.name.empty() ? "" : fmt::format(" of `{}`", array.name));
}

/// What makes the two fit, if that is simple.
std::string fitting_help(NamedShape first, NamedShape second) {
  const Extents a = first.extents, b = second.extents;
  const auto is_equal = [](std::int64_t one, std::int64_t other) { return one == other && one != any_extent; };
  const auto made = [](std::string_view function, std::string_view name, std::int64_t rows, std::int64_t columns) {
    return name.empty() ? "" : fmt::format(": `{}({})` has the shape [{}, {}]", function, name, rows, columns);
  };
  if (a.size() == 2 && b.size() == 2 && is_equal(a[0], b[1]) && is_equal(a[1], b[0]))
    return made("transpose", second.name, a[0], a[1]);
  if (a.size() == 2 && b.size() == 1 && is_equal(a[0], b[0])) return made("column", second.name, b[0], 1);
  if (a.size() == 1 && b.size() == 2 && is_equal(a[0], b[0])) return made("column", first.name, a[0], 1);
  return "";
}

/// "`a`: index 3 of axis 1 is outside of 0..2 (shape [2, 3])".
/// @param fault  what is wrong with it where there are elements
std::string outside_text(const std::string& found, std::size_t axis, NamedShape array, const std::string& fault) {
  const std::string where = array.extents[axis] == 0 ? ": there are no elements" : fault;
  const std::string name = array.name.empty() ? "" : fmt::format("`{}`: ", array.name);
  if (array.extents.size() == 1) return name + found + where;
  return fmt::format("{}{} of axis {}{} (shape {})", name, found, axis, where, shape_text(array.extents));
}

std::string outside_text(const std::string& found, std::size_t axis, NamedShape array) {
  return outside_text(found, axis, array, fmt::format(" is outside of 0..{}", array.extents[axis] - 1));
}

}  // namespace

std::string shape_text(Extents shape) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(extent == any_extent ? ":" : std::to_string(extent));
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string unfit_text(std::string_view what, NamedShape first, NamedShape second) {
  const bool is_part = what.size() > 1 && what.ends_with('_');  // of the library's function of that name
  return fmt::format("shapes {} and {} do not fit in `{}`{}", told(first), told(second),
                     is_part ? what.substr(0, what.size() - 1) : what, fitting_help(first, second));
}

std::string wanted_shape_text(std::string_view name, Extents wanted, Extents found, const SharedExtent& shared) {
  std::string text = fmt::format("{} is to have the shape {}, found {}", name, shape_text(wanted), shape_text(found));
  if (!shared.other.empty()) text += fmt::format(": {} has the shape {}", shared.other, shape_text(shared.shape));
  if (!shared.extent.empty()) text += fmt::format("{} both are `{}`", shared.other.empty() ? ":" : ",", shared.extent);
  return text;
}

std::string unfit_slice_text(Extents found, Extents slice) {
  return fmt::format("what is assigned has the shape {}, the slice {}", shape_text(found), shape_text(slice));
}

std::string index_outside_text(std::int64_t index, std::size_t axis, NamedShape array) {
  const std::string text = outside_text(fmt::format("index {}", index), axis, array);
  const bool counts_from_end = index < 0 && array.extents[axis] != 0;
  return text + (counts_from_end ? ": `end` is the last index, `end-1` the one before" : "");
}

std::string slice_outside_text(std::int64_t first, std::int64_t last, std::size_t axis, NamedShape array) {
  const std::string slice = fmt::format("the slice {}:{}", first, last);
  const auto is_inside = [&](std::int64_t index) { return index >= 0 && index < array.extents[axis]; };
  if (last < first - 1 && is_inside(first) && is_inside(last))
    return outside_text(slice, axis, array,
                        fmt::format(" ends before it begins: `flip` turns {}:{} around", last, first));
  return outside_text(slice, axis, array);
}

std::string no_axis_text(std::int64_t axis, std::int64_t rank) {
  return fmt::format("there is no axis {}: an array of {} dimensions has the axes 0 to {}, or {} to -1", axis, rank,
                     rank - 1, -rank);
}

bool is_slice_within(std::int64_t first, std::int64_t last, std::int64_t extent) {
  return first >= 0 && first <= extent && last < extent && last >= first - 1;
}

}  // namespace raddle::stdlib
