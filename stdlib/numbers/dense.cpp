// Dense arrays: what is checked of indices and extents, and their text. What lowering calls; no script can.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stdlib/native/functions.hpp"
#include "stdlib/shape_texts.hpp"
#include "vm/value/array.hpp"
#include "vm/value/dense.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// -1 if there can not be so many.
std::int64_t element_count(Arguments extents) {
  std::int64_t product = 1;
  for (const Value& extent : extents)
    if (extent.as_int() < 0 || __builtin_mul_overflow(product, extent.as_int(), &product)) return -1;
  return product;
}

/// Behind the rank of the first one, both one after the other.
std::pair<Arguments, Arguments> two_shapes(Arguments arguments) {
  const auto rank = static_cast<std::size_t>(arguments[0].as_int());
  return {arguments.subspan(1).first(rank), arguments.subspan(1 + rank)};
}

std::vector<std::int64_t> numbers_of(Arguments extents) {
  std::vector<std::int64_t> numbers;
  for (const Value& extent : extents) numbers.push_back(extent.as_int());
  return numbers;
}

/// As they are: a -1, too.
std::string numbers_text(Arguments extents) { return fmt::format("[{}]", fmt::join(numbers_of(extents), ", ")); }

/// Of an index or a slice that is outside, for its message.
struct Place {
  std::string array;  ///< "": unknown
  std::size_t axis;
  std::vector<std::int64_t> shape;
  NamedShape named() const { return {shape, array}; }
};

/// @param place  the array, "": unknown, its dimension, from 1, and its extents; 0 and none: the only one
Place place_of(Arguments place, std::int64_t extent) {
  const std::int64_t dimension = place[1].as_int();
  if (dimension == 0) return {place[0].as_string(), 0, {extent}};
  return {place[0].as_string(), static_cast<std::size_t>(dimension) - 1, numbers_of(place.subspan(2))};
}

/// "argument 2 of `concat_rows_`" is one of `concat` for the user: what begins with the `_` is the library's own.
std::string known_name(const std::string& name) {
  if (!name.starts_with("argument ") || !name.ends_with("_`")) return name;
  return name.substr(0, name.find('_')) + "`";
}

}  // namespace

/// The index, if there is an element. Behind it and the extent, for the message: as of place_of().
Result dense_index(Call, Arguments arguments, Results results) {
  const std::int64_t index = arguments[0].as_int(), extent = arguments[1].as_int();
  if (index >= 0 && index < extent) return give(results, arguments[0]);
  const Place place = place_of(arguments.subspan(2), extent);
  return fail(index_outside_text(index, place.axis, place.named()));
}

/// The extent, if it can be one.
Result dense_extent(Call, Arguments arguments, Results results) {
  const std::int64_t extent = arguments[1].as_int();
  if (extent >= 0) return give(results, arguments[1]);
  return fail(fmt::format("{} can not have the extent {}", arguments[0].as_string(), extent));
}

/// One extent of an array that is to have a shape. Behind the name, for the message: which other array has the extent,
/// or "", and by which name in the formals, or ""; the rank; the extents of the wanted shape, -1 where any will do,
/// those of the array, those of the other one.
Result dense_same_extent(Call, Arguments arguments, Results results) {
  const std::int64_t wanted = arguments[0].as_int(), found = arguments[1].as_int();
  if (wanted == found) return give(results, Value::of(wanted));
  const std::string &other = arguments[3].as_string(), &extent = arguments[4].as_string();
  const auto rank = static_cast<std::size_t>(arguments[5].as_int());
  const Arguments shapes = arguments.subspan(6);
  const std::vector<std::int64_t> wanted_shape = numbers_of(shapes.first(rank)),
                                  found_shape = numbers_of(shapes.subspan(rank, rank)),
                                  other_shape = numbers_of(shapes.subspan(2 * rank));
  return fail(
      wanted_shape_text(known_name(arguments[2].as_string()), wanted_shape, found_shape, {other, other_shape, extent}));
}

/// Extents are equal, or 1 in one of both. Behind the names of both, or "", what axes before have come to, and the rank
/// of the first: its extents, then those of the second.
Result dense_joint_extent(Call, Arguments arguments, Results results) {
  const std::int64_t first = arguments[1].as_int(), second = arguments[2].as_int();
  if (first == second || second == 1) return give(results, arguments[1]);
  if (first == 1) return give(results, arguments[2]);
  const std::string &first_name = arguments[3].as_string(), &second_name = arguments[4].as_string();
  const auto [first_shape, second_shape] = two_shapes(arguments.subspan(6));
  const std::vector<std::int64_t> one = numbers_of(first_shape), other = numbers_of(second_shape);
  return fail(unfit_text(arguments[0].as_string(), {one, first_name}, {other, second_name}));
}

namespace {

/// @param place  as of place_of()
Result slice_count(Arguments bounds, std::int64_t step, Arguments place, Results results) {
  const std::int64_t first = bounds[0].as_int(), last = bounds[1].as_int(), extent = bounds[2].as_int();
  if (step < 1)
    return fail(fmt::format("the step of a slice is 1 or more, found {}{}", step,
                            step < 0 ? ": `flip` has those of one dimension in the opposite order" : ""));
  if (!is_slice_within(first, last, extent)) {
    const Place where = place_of(place, extent);
    return fail(slice_outside_text(first, last, where.axis, where.named()));
  }
  return give(results, Value::of(last < first ? std::int64_t{0} : (last - first) / step + 1));
}

}  // namespace

/// How many indices `first:last` are; none if the last one is right before the first. Behind the extent: as of
/// outside_text().
Result dense_slice(Call, Arguments arguments, Results results) {
  return slice_count(arguments, 1, arguments.subspan(3), results);
}

/// Of `first:last:step`.
Result dense_stepped_slice(Call, Arguments arguments, Results results) {
  return slice_count(arguments, arguments[3].as_int(), arguments.subspan(4), results);
}

/// Behind the rank of the slice: its extents, then those of what is assigned. @return the slice's first extent
Result dense_fits_slice(Call, Arguments arguments, Results results) {
  const auto rank = static_cast<std::size_t>(arguments[0].as_int());
  const Arguments extents = arguments.subspan(1), wanted = extents.first(rank), found = extents.subspan(rank);
  bool fits = found.size() <= rank;
  for (std::size_t axis = 0; fits && axis < found.size(); ++axis) {
    const std::int64_t there = wanted[rank - found.size() + axis].as_int();
    fits = found[axis].as_int() == there || found[axis].as_int() == 1;
  }
  if (fits) return give(results, wanted[0]);
  return fail(unfit_slice_text(numbers_of(found), numbers_of(wanted)));
}

/// The elements, once their extents are known to be the right ones.
Result dense_fitting(Call, Arguments arguments, Results results) { return give(results, arguments[0]); }

/// Behind the number of the old extents: these, then the new ones. Both are of as many elements. @return the first new
/// one
Result dense_reshaped(Call, Arguments arguments, Results results) {
  const auto [before, after] = two_shapes(arguments);
  if (element_count(before) == element_count(after)) return give(results, after[0]);
  const bool has_minus_one = std::ranges::any_of(after, [](const Value& extent) { return extent.as_int() == -1; });
  return fail(fmt::format("an array of the shape {} can not have the shape {}{}", numbers_text(before),
                          numbers_text(after),
                          has_minus_one ? ": only a -1 that is written so stands for what is left" : ""));
}

/// The extent in place of the first one that is -1.
Result dense_open_extent(Call, Arguments arguments, Results results) {
  const auto [before, after] = two_shapes(arguments);
  std::vector<Value> others(after.begin(), after.end());
  others.erase(std::ranges::find_if(others, [](const Value& extent) { return extent.as_int() == -1; }));
  const std::int64_t whole = element_count(before), part = element_count(others);
  if (part > 0 && whole % part == 0) return give(results, Value::of(whole / part));
  return fail(
      fmt::format("an array of the shape {} can not have the shape {}", numbers_text(before), numbers_text(after)));
}

/// The numbers of the elements of a mask that are true, in order. Behind the rank: the extents of the array, then those
/// of the mask, which are to be the same.
Result dense_true_keys(Call, Arguments arguments, Results results) {
  const auto rank = static_cast<std::size_t>(arguments[1].as_int());
  const Arguments extents = arguments.subspan(2), array = extents.first(rank), shape = extents.subspan(rank);
  const auto is_equal = [](const Value& a, const Value& b) { return a.as_int() == b.as_int(); };
  if (!std::ranges::equal(array, shape, is_equal))
    return fail(fmt::format("a mask of the shape {} does not fit an array of the shape {}", numbers_text(shape),
                            numbers_text(array)));
  std::size_t count = 0;
  const auto* const mask = static_cast<const std::uint8_t*>(arguments[0].as_array().packed(count));
  if (!mask && count != 0) return fail("an element of the mask has no value");
  std::vector<std::int64_t> keys;
  for (std::size_t i = 0; i < count; ++i)
    if (mask[i] != 0) keys.push_back(static_cast<std::int64_t>(i));
  return give(results, Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(keys))));
}

/// Functions whose calls lowering makes something else of.
Result made_by_lowering(Call, Arguments, Results) { return fail("this function is not called"); }

/// The axis counted from the first one; negative ones count from behind.
Result dense_axis(Call, Arguments arguments, Results results) {
  const std::int64_t axis = arguments[0].as_int(), rank = arguments[1].as_int();
  if (-rank <= axis && axis < rank) return give(results, Value::of(axis < 0 ? axis + rank : axis));
  return fail(no_axis_text(axis, rank));
}

Result pad_width(Call, Arguments arguments, Results results) {
  if (arguments[0].as_int() >= 0) return give(results, arguments[0]);
  return fail(fmt::format("pad: {} zeros can not be put around an array", arguments[0].as_int()));
}

/// The axis from 0 on, if the extent along it is 1.
Result dense_squeezed(Call call, Arguments arguments, Results results) {
  const auto rank = static_cast<std::int64_t>(arguments.size()) - 1;
  const Value axis_and_rank[] = {arguments[0], Value::of(rank)};
  if (Result axis = dense_axis(call, axis_and_rank, results); !axis) return axis;
  const std::int64_t extent = arguments[static_cast<std::size_t>(results[0].as_int()) + 1].as_int();
  if (extent == 1) return {};
  return fail(fmt::format("squeeze: the extent along axis {} is {}, not 1", results[0].as_int(), extent));
}

/// How many elements or rows each of so many equal parts has.
Result dense_part(Call, Arguments arguments, Results results) {
  const std::int64_t count = arguments[0].as_int(), parts = arguments[1].as_int();
  if (parts > 0 && count % parts == 0) return give(results, Value::of(count / parts));
  return fail(fmt::format("split: {} can not be split into {} equal parts", count, parts));
}

/// The third of three axes, if they are 0, 1 and 2 in some order.
Result dense_permuted(Call, Arguments arguments, Results results) {
  const std::int64_t x = arguments[0].as_int(), y = arguments[1].as_int(), z = arguments[2].as_int();
  if (x != y && y != z && x != z) return give(results, arguments[2]);
  return fail(fmt::format("permute: an axis comes twice in {}, {}, {}", x, y, z));
}

/// How many elements a closed array has, if its keys are 0 to n - 1.
Result dense_keys(Call, Arguments arguments, Results results) {
  vm::Array& elements = arguments[0].as_array();
  const auto count = static_cast<std::int64_t>(elements.size());
  std::size_t packed = 0;
  if (elements.packed(packed) != nullptr) return give(results, Value::of(count));
  std::int64_t missing = 0;
  while (missing < count && elements.contains(Value::of(missing))) ++missing;
  if (missing == count) return give(results, Value::of(count));
  return fail(fmt::format("the keys of a dense array are 0 to n - 1: `{}` is missing, though there are {} elements",
                          elements.element_name(Value::of(missing)), count));
}

/// Each element of a closed array has been assigned: else the array has failed, and the VM tells that here.
Result dense_complete(Call, Arguments, Results results) { return give_void(results); }

Result dense_text(Call, Arguments arguments, Results results) {
  return give(results, Value::of(vm::dense_text(arguments[0].as_structure(), vm::whole_dense_layout)));
}

Result shown_dense(Call, Arguments arguments, Results results) {
  return give(results, Value::of(vm::dense_text(arguments[0].as_structure(), vm::traced_dense_layout)));
}

}  // namespace raddle::stdlib::native
