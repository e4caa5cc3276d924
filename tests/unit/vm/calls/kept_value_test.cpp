#include "vm/calls/kept_value.hpp"

#include <doctest/doctest.h>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/file.hpp"
#include "vm/value/structure.hpp"
#include "vm/value/text.hpp"

using namespace raddle::vm;

namespace {

const FileWriter no_file = [](File&) { return std::unexpected(std::string("no file")); };
const FileReader no_reader = [](std::string_view) { return Value(); };

std::string bytes_of(const Value& value) {
  std::string bytes;
  CHECK(append_value(bytes, value, no_file));
  return bytes;
}

Value again(const Value& value, const ForeignType& type) {
  const std::string bytes = bytes_of(value);
  std::string_view rest = bytes;
  Value taken = take_value(rest, type, no_reader);
  CHECK(rest.empty());
  // whatever is cut off, what is left is no value
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view part = std::string_view(bytes).substr(0, size);
    CHECK_FALSE(take_value(part, type, no_reader));
  }
  return taken;
}

ForeignType scalar(ValueKind kind) { return {.kind = kind, .key = ValueKind::none, .element = {}}; }
ForeignType array_of(ValueKind key, ForeignType element) {
  return {.kind = ValueKind::array, .key = key, .element = {std::move(element)}};
}
Value array(Ref<Array> array) { return Value::of_object(ValueKind::array, std::move(array)); }

}  // namespace

TEST_CASE("scalars come back as they were") {
  CHECK(again(Value::of(std::int64_t{-7}), scalar(ValueKind::int_)).as_int() == -7);
  CHECK(again(Value::of(0.1), scalar(ValueKind::float_)).as_float() == 0.1);
  CHECK(again(Value::of(true), scalar(ValueKind::boolean)).as_bool());
  CHECK(again(Value::of(std::string("a\0b", 3)), scalar(ValueKind::string)).as_string() == std::string("a\0b", 3));
  CHECK(again(Value::of_blob("bytes"), scalar(ValueKind::blob)).as_bytes() == "bytes");
  CHECK(again(Value::of_void(), scalar(ValueKind::void_)).kind() == ValueKind::void_);
}

TEST_CASE("values that differ have other bytes") {
  CHECK(bytes_of(Value::of(0.0)) != bytes_of(Value::of(-0.0)));
  CHECK(bytes_of(Value::of(std::int64_t{1})) != bytes_of(Value::of(1.0)));
  CHECK(bytes_of(Value::of(std::int64_t{1})) != bytes_of(Value::of(true)));
}

TEST_CASE("arrays come back with their keys") {
  const Value dense = again(array(Array::packed_of(std::vector<double>{1.5, 2.5})),
                            array_of(ValueKind::int_, scalar(ValueKind::float_)));
  CHECK(dense.as_array().size() == 2);
  CHECK(dense.as_array().get(Value::of(std::int64_t{1})).as_float() == 2.5);
  const Value keyed = again(array(Array::keyed({{Value::of(std::string("k")), Value::of(std::int64_t{3})}})),
                            array_of(ValueKind::string, scalar(ValueKind::int_)));
  CHECK(keyed.as_array().get(Value::of(std::string("k"))).as_int() == 3);
  const Value sparse = again(array(Array::keyed({{Value::of(std::int64_t{1}), Value::of(true)}})),
                             array_of(ValueKind::int_, scalar(ValueKind::boolean)));
  CHECK(sparse.as_array().is_closed());
  CHECK_FALSE(sparse.as_array().contains(Value::of(std::int64_t{0})));
}

TEST_CASE("the order in which a bag was filled plays no part") {
  const auto bag_of = [](std::initializer_list<std::int64_t> numbers) {
    const Ref<Bag> bag = make_ref<Bag>(1);
    for (const std::int64_t number : numbers) bag->append().init(Value::of(number));
    WakeList nobody;
    bag->release_writers(1, nobody);
    return Value::of_object(ValueKind::bag, bag);
  };
  CHECK(bytes_of(bag_of({1, 2, 3})) == bytes_of(bag_of({3, 1, 2})));
  const ForeignType type{.kind = ValueKind::bag, .key = ValueKind::none, .element = {scalar(ValueKind::int_)}};
  CHECK(again(bag_of({5, 6}), type).as_bag().size() == 2);
}

TEST_CASE("structures refer to the names of their type") {
  const ForeignType type{.kind = ValueKind::structure,
                         .key = ValueKind::none,
                         .element = {scalar(ValueKind::int_), scalar(ValueKind::string)},
                         .fields = {"count", "name"}};
  const Ref<Structure> structure = make_ref<Structure>(type.fields);
  structure->field(0).init(Value::of(std::int64_t{3}));
  structure->field(1).init(Value::of(std::string("three")));
  const Value taken = again(Value::of_object(ValueKind::structure, structure), type);
  CHECK(taken.as_structure().field_name(1) == "name");
  CHECK(taken.as_structure().field(1).get().as_string() == "three");
}

TEST_CASE("bytes of another type are no value") {
  const std::string bytes = bytes_of(Value::of(std::int64_t{3}));
  std::string_view rest = bytes;
  CHECK_FALSE(take_value(rest, scalar(ValueKind::float_), no_reader));
}

TEST_CASE("what stands for a file is the writer's affair") {
  const Value file = File::existing("/tmp/x");
  std::string bytes;
  CHECK(append_value(bytes, file, no_file).error() == "no file");
  bytes.clear();
  CHECK(append_value(bytes, file, [](File& each) { return std::expected<std::string, std::string>(each.path()); }));
  std::string_view rest = bytes;
  const Value taken = take_value(rest, scalar(ValueKind::file),
                                 [](std::string_view text) { return File::existing(std::string(text)); });
  CHECK(taken.as_file().path() == "/tmp/x");
}

TEST_CASE("values are shown short") {
  const auto shown = [](const Value& value) { return shown_value(value, bytes_of(value)); };
  CHECK(shown(Value::of(std::int64_t{3})) == "3");
  CHECK(shown(Value::of(std::string("abc"))) == "\"abc\"");
  CHECK(shown(Value::of(std::string(100, 'x'))).starts_with("string, 100 bytes, #"));
  CHECK(shown(array(Array::packed_of(std::vector<std::int64_t>{1, 2}))).starts_with("array, 2 elements, #"));
}
