#include "vm/kernel/leaf_arguments.hpp"

#include "vm/value/borrow.hpp"

namespace raddle::vm {

Buffer* buffer_with(Array& array, std::int64_t address, std::size_t bytes) {
  Buffer* buffer = array.packed_numbers();
  if (!buffer && array.numbers()) buffer = array.numbers()->storage();
  if (!buffer) return nullptr;
  const auto begin = reinterpret_cast<std::int64_t>(buffer->data());
  const auto size = static_cast<std::int64_t>(buffer->count() * Buffer::size_of(buffer->kind()));
  return address >= begin && address + static_cast<std::int64_t>(bytes) <= begin + size ? buffer : nullptr;
}

Future* missing_part(Future& argument, KernelType type) {
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

/// @return false: its elements are not all there, or of another type
static bool encode_array(Array& array, KernelType type, std::int64_t* words, std::size_t& count) {
  Buffer* const numbers = array.packed_numbers();
  if (numbers ? numbers->kind() != kind_of(type) : !array.is_complete() || array.size() != 0) return false;
  words[count++] = numbers ? reinterpret_cast<std::int64_t>(numbers->data()) : reinterpret_cast<std::int64_t>(&array);
  words[count++] = numbers ? static_cast<std::int64_t>(numbers->count()) : 0;
  return true;
}

bool encode(const Future& argument, KernelType type, std::int64_t* words, std::size_t& count) {
  if (argument.is_failed()) return false;
  if (!is_array(type)) {
    words[count++] = static_cast<std::int64_t>(argument.peek());
    return true;
  }
  return encode_array(object_in<Array>(argument), type, words, count);
}

}  // namespace raddle::vm
