// Dense arrays as bytes, and back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <optional>
#include <vector>

#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/number_types.hpp"
#include "vm/value/array.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// none: more than there can be
std::optional<std::size_t> product_of(const std::vector<std::int64_t>& extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  return static_cast<std::size_t>(product);
}

/// Behind the blob: which extent is what is left, counted from 0, their number: none; then all of them.
template <typename T>
Result numbers_in_blob(Arguments arguments, Results results) {
  const std::string& bytes = arguments[0].as_bytes();
  const auto open = static_cast<std::size_t>(arguments[1].as_int());
  std::vector<std::int64_t> extents;
  for (const Value& extent : arguments.subspan(2)) extents.push_back(extent.as_int());
  const std::string wanted = fmt::format("[{}]", fmt::join(extents, ", "));

  const std::size_t size = sizeof(ElementOf<T>), count = bytes.size() / size;
  if (open < extents.size()) {
    extents[open] = 1;
    const std::size_t others = product_of(extents).value_or(0);
    extents[open] = others == 0 ? -1 : static_cast<std::int64_t>(count / others);
  }
  if (product_of(extents) != count || bytes.size() % size != 0)
    return fail(fmt::format("dense: a blob of {} bytes can not have the shape {} of `{}`, of {} each", bytes.size(),
                            wanted, name_of<T>, size == 1 ? "one byte" : fmt::format("{} bytes", size)));
  vm::Buffer::Owner numbers = vm::Buffer::make(kind_of<T>, count);
  std::memcpy(numbers->at_index(0), bytes.data(), bytes.size());
  if constexpr (std::is_same_v<T, bool>)
    for (std::size_t i = 0; i < count; ++i) *static_cast<std::uint8_t*>(numbers->at_index(i)) = bytes[i] != 0;
  results[0] = Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(numbers)));
  results[1] = Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(extents)));
  return {};
}

}  // namespace

Result floats_in_blob(Call, Arguments arguments, Results results) {
  return numbers_in_blob<double>(arguments, results);
}
Result ints_in_blob(Call, Arguments arguments, Results results) {
  return numbers_in_blob<std::int64_t>(arguments, results);
}
Result booleans_in_blob(Call, Arguments arguments, Results results) {
  return numbers_in_blob<bool>(arguments, results);
}
Result float32s_in_blob(Call, Arguments arguments, Results results) {
  return numbers_in_blob<float>(arguments, results);
}
Result int32s_in_blob(Call, Arguments arguments, Results results) {
  return numbers_in_blob<std::int32_t>(arguments, results);
}

Result blob_of_numbers(Call, Arguments arguments, Results results) {
  std::string bytes;
  std::size_t count = 0;
  vm::Array& numbers = arguments[0].as_array();
  const void* const packed = numbers.packed(count);
  if (packed == nullptr && count != 0) return fail("an element of the array has no value");
  if (packed != nullptr)
    bytes.assign(static_cast<const char*>(packed), count * vm::Buffer::size_of(numbers.packed_numbers()->kind()));
  return give(results, Value::of_blob(std::move(bytes)));
}

}  // namespace raddle::stdlib::native
