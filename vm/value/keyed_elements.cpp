#include "vm/value/keyed_elements.hpp"

#include <algorithm>
#include <compare>
#include <functional>

namespace raddle::vm {

namespace {

/// 0.0 and -0.0 are equal, and so are one key.
bool is_zero(const Value& key) { return key.kind() == ValueKind::float_ && key.as_float() == 0; }

}  // namespace

bool KeyLess::operator()(const Value& a, const Value& b) const {
  if (a.kind() != b.kind()) return a.kind() < b.kind();
  if (a.kind() == ValueKind::float_) return std::is_lt(std::strong_order(a.as_float(), b.as_float()));
  if (a.kind() == ValueKind::string) return a.as_string() < b.as_string();
  return a.as_int() < b.as_int();
}

std::size_t KeyedElements::KeyHash::operator()(const Value& key) const {
  if (key.kind() == ValueKind::string) return std::hash<std::string>()(key.as_string());
  std::uint64_t mixed = is_zero(key) ? 0 : key.bits() * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

bool KeyedElements::KeyEqual::operator()(const Value& a, const Value& b) const {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == ValueKind::string) return a.as_string() == b.as_string();
  return a.bits() == b.bits() || (is_zero(a) && is_zero(b));
}

const KeyedElements::Shard& KeyedElements::shard_of(const Value& key) const {
  const std::size_t hash =
      key.kind() == ValueKind::int_ ? KeyHash()(Value::of(key.as_int() / ElementTable::chunk_size)) : KeyHash()(key);
  return shards_[hash / 16 % shard_count];
}

Element* KeyedElements::find(const Value& key) const {
  const Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.elements.find(key);
  return found == shard.elements.end() ? nullptr : const_cast<Element*>(&found->second);
}

Element* KeyedElements::make(const Value& key) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  return shard.make(key);
}

// A chunk is made for its first key at once if the fill seems to run into it from a neighbour.
bool KeyedElements::belongs_in_table(std::int64_t key, const ElementTable& table) {
  const std::int64_t first = key - key % ElementTable::chunk_size;
  const auto is_used = [&](std::int64_t neighbour) {
    const Element* element = neighbour < ElementTable::limit ? table.find(neighbour) : nullptr;
    return element && element->mark() != ElementMark::untouched;  // a guess; any answer is right
  };
  return is_used(first - 1) || is_used(first + ElementTable::chunk_size);
}

Element* KeyedElements::make_in_chunk(std::int64_t key, ElementTable& table) {
  Shard& shard = shard_of(Value::of(key));
  const std::lock_guard lock(shard.mutex);
  if (table.find_numbers(key)) return nullptr;
  Element* element = table.find(key);  // made meanwhile?
  if (!element) {
    const std::int64_t chunk = key / ElementTable::chunk_size;
    const auto found = shard.elements.find(Value::of(key));
    if (found != shard.elements.end()) return &found->second;
    std::vector<std::int64_t>& keys = shard.keys_by_chunk[chunk];
    if (keys.size() < chunk_threshold && !(keys.empty() && belongs_in_table(key, table))) {
      keys.push_back(key);
      return shard.make(Value::of(key));
    }
    table.make_chunk(key, keys);
    shard.keys_by_chunk.erase(chunk);
    element = table.find(key);
  }
  return element->is_outside() ? shard.make(Value::of(key)) : element;
}

bool KeyedElements::adopt_in_chunk(std::int64_t first, NumberChunk::Owner& numbers, ElementTable& table) {
  Shard& shard = shard_of(Value::of(first));
  const std::lock_guard lock(shard.mutex);
  return !shard.keys_by_chunk.contains(first / ElementTable::chunk_size) && table.adopt(first, numbers);
}

std::vector<std::pair<Value, Element*>> KeyedElements::sorted() const {
  std::vector<std::pair<Value, Element*>> all;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [key, element] : shard.elements) all.emplace_back(key, const_cast<Element*>(&element));
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) { return KeyLess()(a.first, b.first); });
  return all;
}

}  // namespace raddle::vm
