#pragma once
// Arguments and results of leaf functions as the words of leaf_abi.hpp.
#include <cstddef>
#include <cstdint>

#include "vm/program/program.hpp"
#include "vm/value/array.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

/// A leaf function that takes or gives more words is interpreted: they lie on the stack.
inline constexpr std::size_t leaf_word_limit = 128;

/// Of an index launch, by sink: where its results go. Null: it is an updateable.
using SinkArrays = std::array<Array*, leaf_word_limit>;
/// The keys of the elements that a point writes; means nothing for updateables.
using SinkKeys = std::array<std::int64_t, leaf_word_limit>;

/// Of the value, or of an array's elements.
inline ValueKind kind_of(KernelType type) {
  switch (is_array(type) ? element_of(type) : type) {
    case KernelType::int_: return ValueKind::int_;
    case KernelType::float_: return ValueKind::float_;
    case KernelType::int32: return ValueKind::int32;
    case KernelType::float32: return ValueKind::float32;
    default: return ValueKind::boolean;
  }
}

/// @param kind  a number's
inline Value decode(std::int64_t word, ValueKind kind) {
  if (kind == ValueKind::boolean) return Value::of(word != 0);
  return Value::from_bits(kind, static_cast<std::uint64_t>(word));
}

/// @param number  an int, a float, a boolean, an int32, a float32
inline std::int64_t word_of(const Value& number) { return static_cast<std::int64_t>(number.bits()); }

/// What machine code has written, as one element of an array, where the word is to be.
inline void make_word(std::int64_t& stored, KernelType type) { stored = number_at(&stored, kind_of(type), 0); }

/// What native code takes for the address of the elements: of an empty array its own, to tell it from others.
std::int64_t address_of(Array& array);

/// The buffer that has these bytes of the array, none if none does.
Buffer* buffer_with(Array& array, std::int64_t address, std::size_t bytes);

/// The first future an argument still waits for; null if it is there or has failed.
Future* missing_part(Future& argument, KernelType type);

/// Appends the words of an argument that is there: one, or an array's two, which are valid as long as the array.
/// @return false if it has failed or is no dense array of the type
bool encode(const Future& argument, KernelType type, std::int64_t* words, std::size_t& count);

}  // namespace raddle::vm
