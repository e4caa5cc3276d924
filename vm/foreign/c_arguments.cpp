#include "vm/foreign/c_arguments.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "vm/memory/memory_limit.hpp"
#include "vm/value/array.hpp"

namespace raddle::vm {

namespace {

Value value_of(std::uint64_t word, ValueKind kind) {
  if (!is_number(kind)) return Value::of_void();
  return Value::from_bits(kind, static_cast<std::uint64_t>(number_at(&word, kind, 0)));  // what C has written
}

}  // namespace

void CArguments::Unmap::operator()(void* pages) const { munmap(pages, bytes); }

std::string CArguments::set(const ForeignFunction& function, Way way, std::span<const Value> inputs) {
  way_ = way;
  drop();
  words_.clear();
  read_.clear();
  filled_memory_.clear();
  std::string problem = add(function, inputs);
  if (!problem.empty()) drop();
  return problem;
}

void CArguments::drop() {
  lent_.clear();
  filled_.clear();
}

std::string CArguments::add(const ForeignFunction& function, std::span<const Value> inputs) {
  std::size_t extent_count = 0;
  for (const ForeignFormal& output : function.outputs) extent_count += output.rank;
  const std::size_t own = inputs.size() - extent_count;
  for (std::size_t i = 0; i < own; ++i)
    if (std::string problem = add_input(function.inputs[i], inputs[i]); !problem.empty()) return problem;
  std::span<const Value> extents = inputs.subspan(own);
  for (const ForeignFormal& output : function.outputs) {
    if (output.rank == 0) {
      if (way_ == Way::fills) words_.push_back(0);
      continue;
    }
    std::string problem = add_filled(output, extents.first(output.rank));
    if (!problem.empty()) return problem;
    extents = extents.subspan(output.rank);
  }
  return {};
}

std::string CArguments::add_input(const ForeignFormal& formal, const Value& value) {
  switch (value.kind()) {
    case ValueKind::int_:
    case ValueKind::float_:
    case ValueKind::boolean:
    case ValueKind::int32:
    case ValueKind::float32:
      set_number(&words_.emplace_back(), value.kind(), 0, static_cast<std::int64_t>(value.bits()));
      return {};
    case ValueKind::string: add_address(value.as_string().c_str(), value.as_string().size() + 1, read_); return {};
    case ValueKind::void_: return {};  // only waited for
    case ValueKind::array: return add_array(formal, value);
    case ValueKind::none:
    case ValueKind::bag:
    case ValueKind::structure:
    case ValueKind::file:
    case ValueKind::blob:
    case ValueKind::updateable:
    case ValueKind::failure: break;
  }
  return fmt::format("input `{}` has no form in C", formal.name);
}

void CArguments::add_address(const void* address, std::size_t size_bytes, std::vector<AddressedMemory>& memory,
                             Buffer* buffer) {
  memory.push_back({words_.size(), size_bytes, buffer});
  words_.push_back(reinterpret_cast<std::uint64_t>(address));
}

std::string CArguments::add_array(const ForeignFormal& formal, const Value& value) {
  Array& array = value.as_array();
  std::size_t count = 0;
  const void* const numbers = array.packed(count);
  if (numbers == nullptr && array.size() != 0) {
    return fmt::format("input `{}` must have the keys 0 to {}: a library gets its elements side by side", formal.name,
                       array.size() - 1);
  }
  Buffer* const buffer = array.packed_numbers();
  if (buffer && BoundedMemory::get()) {
    buffer->use_if_small();
    lent_.emplace_back(*buffer, value);
  }
  add_address(numbers, count * Buffer::size_of(formal.type.element.at(0).kind), read_, buffer);
  read_.back().array = array.place();
  if (formal.rank == 0) words_.push_back(count);
  return {};
}

std::string CArguments::add_filled(const ForeignFormal& formal, std::span<const Value> extents) {
  const ValueKind kind = formal.type.element.at(0).kind;
  double bytes = static_cast<double>(Buffer::size_of(kind));
  std::size_t count = 1;
  for (const Value& extent : extents) {
    bytes *= static_cast<double>(extent.as_int());
    count *= static_cast<std::size_t>(extent.as_int());
  }
  if (!fits_in_memory(bytes)) return no_memory_text("the array `" + formal.name + "`", bytes);
  Filled& filled = filled_.emplace_back(Filled{Buffer::make(kind, count), {nullptr, {}}});
  void* numbers = filled.numbers->at_index(0);
  const std::size_t size = count * Buffer::size_of(kind);
  if (way_ == Way::other_process && size != 0) {
    void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return no_memory_text("the array `" + formal.name + "`", bytes);
    filled.shared = {pages, Unmap{size}};
    numbers = pages;
  } else {
    std::memset(numbers, 0, size);
    if (BoundedMemory::get()) lent_.emplace_back(*filled.numbers, Value());
  }
  // what C fills with truth values is made canonical when it is taken
  add_address(numbers, size, filled_memory_, kind == ValueKind::boolean ? nullptr : filled.numbers.get());
  for (const Value& extent : extents) words_.push_back(static_cast<std::uint64_t>(extent.as_int()));
  return {};
}

void CArguments::read_in(std::size_t index, const AddressedMemory& whole, std::size_t first_byte) {
  AddressedMemory& memory = read_[index];
  memory.buffer = whole.buffer;
  memory.array = whole.array;
  words_[memory.word] = reinterpret_cast<std::uint64_t>(whole.buffer->data()) + first_byte;
}

void** CArguments::pointers() {
  pointers_.clear();
  for (std::uint64_t& word : words_) pointers_.push_back(&word);
  return pointers_.data();
}

void CArguments::take_outputs(const ForeignFunction& function, std::span<Value> outputs) {
  lent_.clear();
  auto word = words_.rbegin();  // those of outputs are the last ones
  auto array = filled_.rbegin();
  for (std::size_t i = outputs.size(); i-- > 0;) {
    const ForeignFormal& output = function.outputs[i];
    if (output.rank != 0) {
      outputs[i] = take_array(*array++);
      word += 1 + output.rank;
    } else if (way_ == Way::fills) {
      outputs[i] = value_of(*word++, output.type.kind);
    }
  }
  drop();
}

Value CArguments::take_array(Filled& filled) {
  Buffer& numbers = *filled.numbers;
  if (filled.shared) std::memcpy(numbers.at_index(0), filled.shared.get(), filled.shared.get_deleter().bytes);
  auto* const bytes = static_cast<std::uint8_t*>(numbers.at_index(0));
  if (numbers.kind() == ValueKind::boolean)  // any byte but 0 is true in C
    std::transform(bytes, bytes + numbers.count(), bytes, [](std::uint8_t one) { return one != 0 ? 1 : 0; });
  return Value::of_object(ValueKind::array, Array::packed_of(std::move(filled.numbers)));
}

}  // namespace raddle::vm
