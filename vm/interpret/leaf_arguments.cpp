#include "vm/interpret/leaf_arguments.hpp"

#include <bit>

#include "vm/interpret/borrow.hpp"

namespace raddle::vm {

ValueKind kind_of(LeafType type) {
  if (type == LeafType::int_ || type == LeafType::int_array) return ValueKind::int_;
  return type == LeafType::float_ || type == LeafType::float_array ? ValueKind::float_ : ValueKind::boolean;
}

Value decode(std::int64_t word, ValueKind kind) {
  if (kind == ValueKind::int_) return Value::of(word);
  if (kind == ValueKind::boolean) return Value::of(word != 0);
  return Value::of(std::bit_cast<double>(word));
}

Future* missing_part(Future& argument, LeafType type) {
  if (!argument.is_resolved()) return &argument;
  if (!is_array(type) || argument.is_failed()) return nullptr;
  Array& array = object_in<Array>(argument);
  if (!array.is_closed()) return &array.closed();
  std::size_t count;
  return array.is_packable(count) ? nullptr : array.unset_element();
}

std::int64_t address_of(Array& array) {
  std::size_t size;
  const void* elements = array.packed(size);
  return reinterpret_cast<std::int64_t>(elements ? elements : &array);
}

bool encode(const Future& argument, LeafType type, std::int64_t* words, std::size_t& count) {
  if (argument.is_failed()) return false;
  if (!is_array(type)) {
    words[count++] = static_cast<std::int64_t>(argument.peek());
    return true;
  }
  Array& array = object_in<Array>(argument);
  std::size_t size;
  if (!array.is_packable(size)) return false;
  if (size != 0 && array.get(Value::of(std::int64_t{0})).kind() != kind_of(type)) return false;
  words[count++] = address_of(array);
  words[count++] = static_cast<std::int64_t>(size);
  return true;
}

}  // namespace raddle::vm
