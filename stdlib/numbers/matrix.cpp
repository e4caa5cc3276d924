// Arrays of arrays: matrices made of blobs and printed, arrays merged by their inner keys.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

std::string number_text(const Value& number) {
  if (number.kind() == vm::ValueKind::float_ || number.kind() == vm::ValueKind::float32)
    return fmt::format("{:0.4f}", number.as_float());
  return vm::to_text(number);
}

Result print_vector(Call call, Arguments arguments, Results results) {
  std::string text;
  arguments[0].as_array().for_each([&](const Value& index, const Value& number) {
    text += fmt::format("{}: {}\n", index.as_int(), number_text(number));
  });
  print(call.settings, text);
  return give_void(results);
}

Result print_matrix(Call call, const char* function, Arguments arguments, Results results) {
  const std::int64_t row_count = arguments[1].as_int();
  std::string text = fmt::format("matrix rows: {}\n", row_count);
  for (std::int64_t i = 0; i < row_count; ++i) {
    const Value row = arguments[0].as_array().get(Value::of(i));
    if (!row) return fail(fmt::format("{}: the matrix has no row {}", function, i));
    text += fmt::format("row {}: ", i);
    row.as_array().for_each([&](const Value&, const Value& number) { text += " " + number_text(number); });
    text += '\n';
  }
  print(call.settings, text);
  return give_void(results);
}

// Calls `merge(key, value)` with the elements of all inner arrays; ends at the first error.
template <typename Merge>
Result merge_inner(const Value& outer, Merge merge) {
  Result outcome;
  outer.as_array().for_each([&](const Value&, const Value& inner) {
    inner.as_array().for_each([&](const Value& key, const Value& value) {
      if (outcome) outcome = merge(key.as_int(), value);
    });
  });
  return outcome;
}

Value keyed(std::map<std::int64_t, Value> entries) {
  std::vector<std::pair<Value, Value>> pairs;
  for (auto& [key, value] : entries) pairs.emplace_back(Value::of(key), std::move(value));
  return Value::of_object(vm::ValueKind::array, vm::Array::keyed(std::move(pairs)));
}

}  // namespace

// m rows of n floats that lie column by column.
Result matrix_from_blob_fortran(Call, Arguments arguments, Results results) {
  const std::string& bytes = arguments[0].as_bytes();
  const std::int64_t row_count = arguments[1].as_int(), column_count = arguments[2].as_int();
  const std::size_t float_count = bytes.size() / sizeof(double);
  std::int64_t wanted = 0;
  const bool overflows = __builtin_mul_overflow(row_count, column_count, &wanted);
  if (row_count < 0 || column_count < 0 || overflows || static_cast<std::size_t>(wanted) != float_count ||
      bytes.size() % sizeof(double) != 0) {
    return fail(fmt::format("matrix_from_blob_fortran: {} bytes are no {} x {} floats of {} bytes", bytes.size(),
                            row_count, column_count, sizeof(double)));
  }
  const auto rows_wanted = static_cast<std::size_t>(row_count), columns = static_cast<std::size_t>(column_count);
  constexpr double row_bytes = sizeof(vm::Array) + sizeof(Value);
  if (!vm::fits_in_memory(static_cast<double>(row_count) * row_bytes)) {
    return fail(fmt::format("matrix_from_blob_fortran: {} rows need more memory than there is", row_count));
  }
  std::vector<Value> rows;
  for (std::size_t i = 0; i < rows_wanted; ++i) {
    std::vector<Value> row;
    for (std::size_t j = 0; j < columns; ++j) {
      double value;
      std::memcpy(&value, bytes.data() + (j * rows_wanted + i) * sizeof value, sizeof value);
      row.push_back(Value::of(value));
    }
    rows.push_back(dense_array(std::move(row)));
  }
  return give(results, dense_array(std::move(rows)));
}

/// A dense matrix as an array of its rows.
Result rows_of_matrix(Call, Arguments arguments, Results results) {
  std::size_t count = 0;
  vm::Array& matrix = arguments[0].as_array();
  const auto* const numbers = static_cast<const std::byte*>(matrix.packed(count));
  if (numbers == nullptr && count != 0) return fail("an element of the array has no value");
  const std::int64_t row_count = arguments[1].as_int();
  const auto columns = static_cast<std::size_t>(arguments[2].as_int());
  const double row_bytes = sizeof(vm::Array) + sizeof(Value) + static_cast<double>(columns) * sizeof(double);
  if (!vm::fits_in_memory(static_cast<double>(row_count) * row_bytes))
    return fail(fmt::format("{} rows of {} numbers need more memory than there is", row_count, columns));
  std::vector<Value> rows;
  for (std::int64_t i = 0; i < row_count; ++i) {
    if (columns == 0) {
      rows.push_back(dense_array({}));
      continue;
    }
    const vm::ValueKind kind = matrix.packed_numbers()->kind();
    const std::size_t bytes = columns * vm::Buffer::size_of(kind);
    vm::Buffer::Owner row = vm::Buffer::make(kind, columns);
    std::memcpy(row->at_index(0), numbers + static_cast<std::size_t>(i) * bytes, bytes);
    rows.push_back(Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(row))));
  }
  return give(results, dense_array(std::move(rows)));
}

Result vector_print(Call call, Arguments arguments, Results results) { return print_vector(call, arguments, results); }
Result matrix_print(Call call, Arguments arguments, Results results) {
  return print_matrix(call, "matrix_print", arguments, results);
}
Result matrix_print_integer(Call call, Arguments arguments, Results results) {
  return print_matrix(call, "matrix_print_integer", arguments, results);
}

Result reduce_sum_integer(Call, Arguments arguments, Results results) {
  std::map<std::int64_t, Value> sums;
  auto merged = merge_inner(arguments[0], [&](std::int64_t key, const Value& value) -> Result {
    Value& sum = sums.try_emplace(key, Value::of(std::int64_t{0})).first->second;
    std::int64_t next = 0;
    if (__builtin_add_overflow(sum.as_int(), value.as_int(), &next)) return fail("integer overflow");
    sum = Value::of(next);
    return {};
  });
  if (!merged) return merged;
  return give(results, keyed(std::move(sums)));
}

Result reduce_splice_string(Call, Arguments arguments, Results results) {
  std::map<std::int64_t, Value> spliced;
  auto merged = merge_inner(arguments[0], [&](std::int64_t key, const Value& value) -> Result {
    const auto [found, is_new] = spliced.try_emplace(key, value);
    if (is_new || found->second.as_string() == value.as_string()) return {};
    return fail(
        fmt::format("reduce_splice_string: for index {}: {} != {}", key, found->second.as_string(), value.as_string()));
  });
  if (!merged) return merged;
  return give(results, keyed(std::move(spliced)));
}

// Of MPE's log, which Swift/T writes only when it is built with it.
Result metadata(Call, Arguments, Results results) { return give_void(results); }

}  // namespace raddle::stdlib::native
