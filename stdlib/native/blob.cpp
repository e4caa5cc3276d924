// Blobs: bytes, made of and read as strings, floats (8 bytes) and ints (4 bytes, as C's).
#include <fmt/format.h>

#include <cstring>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/file_content.hpp"
#include "stdlib/native/functions.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/file.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Value floats_as_blob(const Value& array) {
  std::string bytes;
  visit_numbers<double>(array, [&](double value) { append(bytes, value); });
  return Value::of_blob(std::move(bytes));
}

}  // namespace

Result blob_size(Call, Arguments arguments, Results results) {
  return give(results, Value::of(static_cast<std::int64_t>(arguments[0].as_bytes().size())));
}

Result blob_null(Call, Arguments, Results results) { return give(results, Value::of_blob({})); }

// With the NUL that ends a C string.
Result blob_from_string(Call, Arguments arguments, Results results) {
  return give(results, Value::of_blob(arguments[0].as_string() + '\0'));
}

// Up to the first NUL.
Result string_from_blob(Call, Arguments arguments, Results results) {
  const std::string& bytes = arguments[0].as_bytes();
  return give(results, Value::of(bytes.substr(0, bytes.find('\0'))));
}

Result blob_from_floats(Call, Arguments arguments, Results results) {
  return give(results, floats_as_blob(arguments[0]));
}

namespace {

Result floats_in(std::string_view function, Arguments arguments, Results results) {
  const std::string& bytes = arguments[0].as_bytes();
  if (bytes.size() % sizeof(double) != 0) {
    return fail(fmt::format("{}: {} bytes are not a multiple of {}", function, bytes.size(), sizeof(double)));
  }
  std::vector<Value> values;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(double)) {
    double value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    values.push_back(Value::of(value));
  }
  return give(results, dense_array(std::move(values)));
}

Result ints_as_blob(std::string_view function, Arguments arguments, Results results) {
  std::string bytes;
  std::int64_t too_large = 0;
  visit_numbers<std::int64_t>(arguments[0], [&](std::int64_t value) {
    const auto narrow = static_cast<std::int32_t>(value);
    if (narrow != value) too_large = value;
    append(bytes, narrow);
  });
  if (too_large != 0) return fail(fmt::format("{}: {} does not fit into 32 bits", function, too_large));
  return give(results, Value::of_blob(std::move(bytes)));
}

}  // namespace

Result floats_from_blob(Call, Arguments arguments, Results results) {
  return floats_in("floats_from_blob", arguments, results);
}
Result blob2floats(Call, Arguments arguments, Results results) { return floats_in("blob2floats", arguments, results); }

Result blob_from_ints(Call, Arguments arguments, Results results) {
  return ints_as_blob("blob_from_ints", arguments, results);
}
Result ints2blob(Call, Arguments arguments, Results results) { return ints_as_blob("ints2blob", arguments, results); }

Result blob_zeroes_float(Call, Arguments arguments, Results results) {
  const std::int64_t count = arguments[0].as_int();
  if (count < 0) return fail(fmt::format("blob_zeroes_float: {} is negative", count));
  if (!vm::fits_in_memory(static_cast<double>(count) * sizeof(double))) {
    return fail(fmt::format("blob_zeroes_float: {} floats need more memory than there is", count));
  }
  return give(results, Value::of_blob(std::string(static_cast<std::size_t>(count) * sizeof(double), '\0')));
}

Result blob_read(Call, Arguments arguments, Results results) {
  auto bytes = read_file(arguments[0].as_file().path());
  if (!bytes) return fail(std::move(bytes.error()));
  return give(results, Value::of_blob(std::move(*bytes)));
}

Result blob_write(Call, Arguments arguments, Results) {
  return write_file(arguments[0].as_file(), arguments[1].as_bytes());
}

// A blob for each row.
Result blob_pack_rows_float(Call, Arguments arguments, Results results) {
  std::vector<Value> rows;
  for (const Value& row : elements(arguments[0])) rows.push_back(floats_as_blob(row));
  return give(results, dense_array(std::move(rows)));
}

Result blob_hdf_write(Call, Arguments, Results) {
  return fail("not supported yet: files of HDF5; blob_write() writes the bytes of a blob as they are");
}

Result turbine_run_output_blob(Call, Arguments, Results) {
  return fail("not supported yet: a blob for the program around the run, as a run is a program of its own");
}

}  // namespace raddle::stdlib::native
