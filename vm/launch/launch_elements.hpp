#pragma once
// Where the elements lie that points of an index launch read and write.
#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/interpret/frame.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/launch/point_launch.hpp"
#include "vm/value/array.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

/// The key in the last row. @param keys  of the launch  @param point  the value of the loop variable
inline std::int64_t element_key(const LaunchSink& sink, const std::int64_t* keys, std::int64_t point) {
  return sink.key_count != 0 ? keys[sink.first_key + sink.key_count - 1] : point;
}

/// The row of an element, if it is there.
inline Array* row_of(Frame& frame, const LaunchRead& read, const std::int64_t* keys) {
  Future& variable = frame.at(read.array);
  if (!variable.is_resolved() || variable.kind() != ValueKind::array) return nullptr;
  Array* row = &object_in<Array>(variable);
  for (std::uint32_t i = 0; row && i + 1 < read.key_count; ++i) row = row->nested(Value::of(keys[i]));
  return row;
}

/// The row of an element and what else is known of it, if it is there.
/// @param before  reads before this one: one of them may have led to the same row
inline KnownRow find_known(Frame& frame, const LaunchRead& read, const std::int64_t* keys,
                           std::span<const LaunchRead> before, std::span<const KnownRow> known) {
  for (std::size_t i = 0; read.key_count == 2 && i < before.size(); ++i)
    if (before[i].key_count == 2 && before[i].array == read.array && known[i].row && known[i].key == keys[0])
      return known[i];
  return {keys[0], row_of(frame, read, keys), {}};
}

/// Reads whose elements are there, as bits; their words.
inline std::uint64_t find_present(Frame& frame, const IndexLaunch& launch, const Function& leaf,
                                  const std::int64_t* keys, std::int64_t* words, std::span<KnownRow> known) {
  std::uint64_t present = 0;
  for (std::size_t i = 0; i < std::min(launch.reads.size(), known.size()); ++i) {
    const LaunchRead& read = launch.reads[i];
    const std::int64_t* const own = keys + read.first_key;
    KnownRow& last = known[i];
    if (!last.leads(read, own)) last = find_known(frame, read, own, {launch.reads.data(), i}, known);
    if (!last.row) continue;
    const std::int64_t key = own[read.key_count - 1];
    const ValueKind kind = kind_of(leaf.leaf_parameters[i + 1]);
    const Element* const element = last.part.find(*last.row, key);
    std::uint64_t bits;
    if (element && element->holds(kind, bits))
      words[i] = static_cast<std::int64_t>(bits);
    else if (!last.row->find_number(key, kind, words[i]))
      continue;
    present |= std::uint64_t{1} << i;
  }
  return present;
}

inline std::uint64_t all_bits(std::size_t count) { return (std::uint64_t{1} << count) - 1; }

/// What a point lacks.
struct Lack {
  Future* missing = nullptr;   ///< an element, or a row
  bool is_impossible = false;  ///< something has failed, or will never be there: to be interpreted
};

inline Lack impossible() { return {nullptr, true}; }

/// Finds the array of `read`'s element: the last but one of what its keys lead to.
inline Lack find_row(Frame& frame, const LaunchRead& read, const std::int64_t* keys, Array*& row, Patience& patience) {
  Future* variable = &frame.at(read.array);
  for (std::uint32_t i = 0;; ++i) {
    if (!variable->is_resolved()) return {variable};
    if (variable->kind() != ValueKind::array) return impossible();
    row = &object_in<Array>(*variable);
    for (; i + 1 < read.key_count; ++i) {
      Array* nested = row->nested(Value::of(keys[i]));
      if (!nested && !patience.is_rewarded([&] { return (nested = row->nested(Value::of(keys[i]))) != nullptr; }))
        break;
      row = nested;
    }
    if (i + 1 == read.key_count) return {};
    variable = row->element(Value::of(keys[i]));
    if (!variable) return impossible();
  }
}

/// Finds the number in the row; what is not there yet is awaited from then on. @param word  of leaf_abi.hpp
inline Lack find_element(Array& row, KernelType type, std::int64_t number, std::int64_t& word, Patience& patience) {
  const auto is_there = [&] { return row.find_number(number, kind_of(type), word); };
  if (is_there() || (row.awaits(number) && patience.is_rewarded(is_there))) return {};
  const Value key = Value::of(number);
  Value value = row.get(key);
  if (!value) {
    if (patience.is_rewarded(is_there)) return {};
    Future* const element = row.element(key);
    if (element && !element->is_resolved()) return {element};
    value = element ? element->get() : row.get(key);  // of none: a number may have come just now
  }
  if (value.kind() != kind_of(type)) return impossible();
  word = static_cast<std::int64_t>(value.bits());
  return {};
}

}  // namespace raddle::vm
