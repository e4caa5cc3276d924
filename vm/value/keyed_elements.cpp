#include "vm/value/keyed_elements.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <functional>

namespace raddle::vm {

namespace {

bool is_float(const Value& key) { return key.kind() == ValueKind::float_ || key.kind() == ValueKind::float32; }
/// 0.0 and -0.0 are equal, and so are one key.
bool is_zero(const Value& key) { return is_float(key) && key.as_float() == 0; }

}  // namespace

bool KeyLess::operator()(const Value& a, const Value& b) const {
  if (a.kind() != b.kind()) return a.kind() < b.kind();
  if (is_float(a)) return std::is_lt(std::strong_order(a.as_float(), b.as_float()));
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

namespace {

/// Held for some 100 ns mostly: to sleep takes longer than to try again.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  constexpr int tries = 200;
  for (int i = 0; i < tries; ++i)
    if (mutex.try_lock()) return {mutex, std::adopt_lock};
  return std::unique_lock(mutex);
}

}  // namespace

std::size_t KeyedElements::shard_of(const Value& key) {
  const std::size_t hash =
      key.kind() == ValueKind::int_ ? KeyHash()(Value::of(key.as_int() / ElementTable::chunk_size)) : KeyHash()(key);
  return hash >> (64 - std::countr_zero(shard_count));  // the highest bits: a shard's map goes by the lowest
}

KeyedElements::Locked KeyedElements::lock(std::size_t shard) const {
  Shards* shards = shards_.load(std::memory_order_acquire);
  if (!shards) {
    std::unique_lock<std::mutex> lock = lock_soon(first_.mutex);
    shards = shards_.load(std::memory_order_relaxed);
    if (!shards) return {first_, std::move(lock)};
  }
  return {(*shards)[shard], lock_soon((*shards)[shard].mutex)};
}

void KeyedElements::spread() {
  auto shards = std::make_unique<Shards>();
  for (auto entry = first_.elements.begin(); entry != first_.elements.end(); ++entry)
    (*shards)[shard_of(entry.key())].elements.emplace(entry.key(), std::move(entry.value()));
  for (auto& [chunk, keys] : first_.keys_by_chunk)
    (*shards)[shard_of(Value::of(chunk * ElementTable::chunk_size))].keys_by_chunk.emplace(chunk, std::move(keys));
  first_.elements = Map();
  first_.keys_by_chunk = {};
  shards_.store(shards.release(), std::memory_order_release);
}

Element* KeyedElements::Shard::make(const Value& key) {
  const auto [entry, is_new] = elements.try_emplace(key);
  if (is_new) entry.value() = std::make_unique<Element>();
  return entry.value().get();
}

Element* KeyedElements::make_in(Locked& locked, const Value& key) {
  Element* const element = locked.shard.make(key);
  if (&locked.shard == &first_ && first_.elements.size() > most_unshared) spread();
  return element;
}

Element* KeyedElements::find(const Value& key) const {
  const Locked locked = lock(shard_of(key));
  const auto found = locked.shard.elements.find(key);
  return found == locked.shard.elements.end() ? nullptr : found->second.get();
}

std::optional<std::vector<std::int64_t>> KeyedElements::keys_in_chunk(std::int64_t key,
                                                                      const ElementTable& table) const {
  const Locked locked = lock(shard_of(Value::of(key)));
  if (table.find(key)) return std::nullopt;
  const auto found = locked.shard.keys_by_chunk.find(key / ElementTable::chunk_size);
  return found == locked.shard.keys_by_chunk.end() ? std::vector<std::int64_t>() : found->second;
}

Element* KeyedElements::make(const Value& key) {
  Locked locked = lock(shard_of(key));
  return make_in(locked, key);
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
  Locked locked = lock(shard_of(Value::of(key)));
  Shard& shard = locked.shard;
  if (table.find_number(key).count != 0) return nullptr;
  Element* element = table.find(key);  // made meanwhile?
  if (!element) {
    const std::int64_t chunk = key / ElementTable::chunk_size;
    const auto found = shard.elements.find(Value::of(key));
    if (found != shard.elements.end()) return found->second.get();
    std::vector<std::int64_t>& keys = shard.keys_by_chunk[chunk];
    const bool is_apart = keys.size() < chunk_threshold && !(keys.empty() && belongs_in_table(key, table));
    if (is_apart || table.find_number_chunk(key)) {
      keys.push_back(key);
      return make_in(locked, Value::of(key));
    }
    table.make_chunk(key, keys);
    shard.keys_by_chunk.erase(chunk);
    element = table.find(key);
  }
  return element->is_outside() ? make_in(locked, Value::of(key)) : element;
}

void KeyedElements::insert_in_chunk(std::int64_t first, const NumberRun& numbers, ElementTable& table,
                                    std::vector<std::int64_t>& rest) {
  constexpr std::int64_t worth_numbers = 64;  // fewer could make many of their neighbours lie here
  const std::int64_t chunk = first / ElementTable::chunk_size, offset = first % ElementTable::chunk_size;
  const Locked locked = lock(shard_of(Value::of(first)));
  const auto found = locked.shard.keys_by_chunk.find(chunk);
  const auto is_here = [&](std::int64_t key) {
    return found != locked.shard.keys_by_chunk.end() && std::ranges::find(found->second, key) != found->second.end();
  };
  NumberChunk* present = table.find_number_chunk(first);
  if (!present && !table.find(first) && numbers.count >= worth_numbers) {
    NumberChunk::Owner made = NumberChunk::make(numbers.kind);
    present = made.get();
    table.adopt(chunk * ElementTable::chunk_size, made);
  }
  for (std::int64_t i = 0; i < numbers.count;) {
    std::int64_t end = i;
    const auto fits = [&] { return present && present->kind() == numbers.kind && !present->has(offset + end); };
    while (end < numbers.count && fits() && !is_here(first + end)) ++end;
    if (end > i) present->write(offset + i, numbers.part(i, end - i));
    if (end < numbers.count) rest.push_back(first + end++);
    i = end;
  }
}

bool KeyedElements::adopt_in_chunk(std::int64_t first, NumberChunk::Owner& numbers, ElementTable& table) {
  const Locked locked = lock(shard_of(Value::of(first)));
  if (locked.shard.keys_by_chunk.contains(first / ElementTable::chunk_size)) return false;
  numbers->set_present(0, NumberChunk::size);
  return table.adopt(first, numbers);
}

std::vector<std::pair<Value, Element*>> KeyedElements::sorted() const {
  std::vector<std::pair<Value, Element*>> all;
  visit([&](const Value& key, Element& element) { all.emplace_back(key, &element); });
  std::ranges::sort(all, [](const auto& a, const auto& b) { return KeyLess()(a.first, b.first); });
  return all;
}

}  // namespace raddle::vm
