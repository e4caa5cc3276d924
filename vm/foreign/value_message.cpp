// 'i' number, 'f' the bits of a double, 'b' number, 's' text, 'B' the bytes of a blob, 'F' path and whether the file is
// mapped, 'a' how many elements, then keys and values in turn, 'g' how many elements of a bag, then these, 't' how many
// fields, then names and values in turn, 'v' void.
#include "vm/foreign/value_message.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/file.hpp"
#include "vm/value/structure.hpp"

namespace raddle::vm {

namespace {

void put_array(std::string& to, const Array& array) {
  to += 'a';
  put(to, static_cast<std::int64_t>(array.size()));
  array.for_each([&to](const Value& key, const Value& element) {
    put_value(to, key);
    put_value(to, element);
  });
}

void put_bag(std::string& to, const Bag& bag) {
  to += 'g';
  std::string elements;
  std::int64_t count = 0;
  bag.for_each([&](const Value& element) {
    put_value(elements, element);
    ++count;
  });
  put(to, count);
  to += elements;
}

void put_structure(std::string& to, Structure& structure) {
  to += 't';
  put(to, static_cast<std::int64_t>(structure.field_count()));
  for (std::size_t i = 0; i < structure.field_count(); ++i) {
    put(to, structure.field_name(i));
    put_value(to, structure.field(i).get());
  }
}

Value not_ok(MessageReader& reader) {
  reader.give_up();
  return Value::of_void();
}

Value take_array(MessageReader& reader, const ForeignType& type) {
  if (type.element.empty()) return not_ok(reader);
  const ForeignType key_type{.kind = type.key, .element = {}};
  std::vector<std::pair<Value, Value>> entries;
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left) {
    Value key = take_value(reader, key_type);
    entries.emplace_back(std::move(key), take_value(reader, type.element[0]));
  }
  return Value::of_object(ValueKind::array, Array::keyed(std::move(entries)));
}

Value take_bag(MessageReader& reader, const ForeignType& type) {
  if (type.element.empty()) return not_ok(reader);
  Ref<Bag> bag = make_ref<Bag>(1);
  WakeList nobody;
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left)
    bag->append().set(take_value(reader, type.element[0]), nobody);
  bag->release_writers(1, nobody);
  return Value::of_object(ValueKind::bag, std::move(bag));
}

/// Fields come in the order of the type.
Value take_structure(MessageReader& reader, const ForeignType& type) {
  if (reader.number() != static_cast<std::int64_t>(type.fields.size())) return not_ok(reader);
  Ref<Structure> structure = make_ref<Structure>(type.fields);
  WakeList nobody;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    if (reader.text() != type.fields[i]) return not_ok(reader);
    structure->field(i).set(take_value(reader, type.element[i]), nobody);
  }
  return Value::of_object(ValueKind::structure, std::move(structure));
}

}  // namespace

void put_value(std::string& to, const Value& value) {
  switch (value.kind()) {
    case ValueKind::int_:
    case ValueKind::int32: to += 'i'; return put(to, value.as_int());
    case ValueKind::float_:
    case ValueKind::float32: to += 'f'; return put(to, std::bit_cast<std::int64_t>(value.as_float()));
    case ValueKind::boolean: to += 'b'; return put(to, std::int64_t{value.as_bool()});
    case ValueKind::string: to += 's'; return put(to, value.as_string());
    case ValueKind::blob: to += 'B'; return put(to, value.as_bytes());
    case ValueKind::file:
      to += 'F';
      put(to, value.as_file().path());
      return put(to, std::int64_t{value.as_file().is_mapped()});
    case ValueKind::array: return put_array(to, value.as_array());
    case ValueKind::bag: return put_bag(to, value.as_bag());
    case ValueKind::structure: return put_structure(to, value.as_structure());
    case ValueKind::none:
    case ValueKind::void_:
    case ValueKind::updateable:
    case ValueKind::failure: to += 'v';
  }
}

Value take_value(MessageReader& reader, const ForeignType& type) {
  switch (reader.letter()) {
    case 'i':
      return type.kind == ValueKind::int32 ? Value::of_int32(static_cast<std::int32_t>(reader.number()))
                                           : Value::of(reader.number());
    case 'f': {
      const auto number = std::bit_cast<double>(reader.number());
      return type.kind == ValueKind::float32 ? Value::of_float32(static_cast<float>(number)) : Value::of(number);
    }
    case 'b': return Value::of(reader.number() != 0);
    case 's': return Value::of(std::string(reader.text()));
    case 'B': return Value::of_blob(std::string(reader.text()));
    case 'F': {
      std::string path(reader.text());
      reader.number();
      return File::existing(std::move(path));
    }
    case 'a': return take_array(reader, type);
    case 'g': return take_bag(reader, type);
    case 't': return take_structure(reader, type);
    case 'v': return Value::of_void();
    default: return not_ok(reader);
  }
}

void put_type(std::string& to, const ForeignType& type) {
  put(to, static_cast<std::int64_t>(type.kind));
  put(to, static_cast<std::int64_t>(type.key));
  put(to, static_cast<std::int64_t>(type.fields.size()));
  for (const std::string& field : type.fields) put(to, field);
  put(to, static_cast<std::int64_t>(type.element.size()));
  for (const ForeignType& element : type.element) put_type(to, element);
}

ForeignType take_type(MessageReader& reader) {
  ForeignType type;
  type.kind = static_cast<ValueKind>(reader.number());
  type.key = static_cast<ValueKind>(reader.number());
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left) type.fields.emplace_back(reader.text());
  for (std::int64_t left = reader.number(); left > 0 && reader.is_ok(); --left)
    type.element.push_back(take_type(reader));
  return type;
}

}  // namespace raddle::vm
