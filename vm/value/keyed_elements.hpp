#pragma once
// The elements of an array that are not in its table: keys that are no small ints, and ints that lie too sparsely.
#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/value/element_table.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Total order of keys: by kind, then ints, floats and booleans by value, strings by their bytes.
struct KeyLess {
  bool operator()(const Value& a, const Value& b) const;
};

/// A hash map in shards, each behind its mutex. Elements never move and live as long as the map. Any thread; no lock
/// is held when a call returns, none while another lock of the VM is taken.
///
/// Int keys that belong to a chunk of the table which does not exist yet are kept here until the chunk has enough keys
/// to be worth its 4 KiB; then it is made, and those that are here already stay (marked `outside` in the chunk). Who
/// makes a chunk and who adds one of its keys here hold the same shard's mutex, so that no key is in both places.
class KeyedElements {
 public:
  Element* find(const Value& key) const;
  Element* make(const Value& key);
  /// An int key of `table` (not a small one) that has no memory there. @return null if there is a number meanwhile
  Element* make_in_chunk(std::int64_t key, ElementTable& table);
  /// ElementTable::adopt, unless elements of that chunk are here.
  bool adopt_in_chunk(std::int64_t first, NumberChunk::Owner& numbers, ElementTable& table);
  /// All elements, sorted by KeyLess.
  std::vector<std::pair<Value, Element*>> sorted() const;

 private:
  static constexpr std::size_t shard_count = 8;
  static constexpr std::size_t chunk_threshold = 16;  ///< keys of a chunk that are kept here at most: 256 bytes a key
  struct KeyHash {
    std::size_t operator()(const Value& key) const;
  };
  struct KeyEqual {
    bool operator()(const Value& a, const Value& b) const;
  };
  struct Shard {
    mutable std::mutex mutex;  ///< guards the maps' shape, not the elements
    std::unordered_map<Value, Element, KeyHash, KeyEqual> elements;
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> keys_by_chunk;
    Element* make(const Value& key) { return &elements[key]; }
  };
  static bool belongs_in_table(std::int64_t key, const ElementTable& table);
  /// Keys of one chunk are in one shard.
  const Shard& shard_of(const Value& key) const;
  Shard& shard_of(const Value& key) { return const_cast<Shard&>(std::as_const(*this).shard_of(key)); }

  std::array<Shard, shard_count> shards_;
};

}  // namespace raddle::vm
