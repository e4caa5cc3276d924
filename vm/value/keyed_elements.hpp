#pragma once
// The elements of an array that are not in its table: keys that are no small ints, and ints that lie too sparsely.
#include <tsl/robin_map.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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

/// A hash map behind a mutex, or, from 256 elements on, in shards that have one each. Elements never move and live as
/// long as the map. Any thread; no lock is held when a call returns, none while another lock of the VM is taken.
///
/// Int keys that belong to a chunk of the table which does not exist yet are kept here until the chunk has enough keys
/// to be worth its 4 KiB; then it is made, and those that are here already stay (marked `outside` in the chunk). Keys
/// of a chunk of numbers that are no number there are here, too. Who makes a chunk, adds numbers to one or one of its
/// keys here holds the same mutex, so that no key is in both places.
class KeyedElements {
 public:
  KeyedElements() = default;
  ~KeyedElements() { delete shards_.load(std::memory_order_relaxed); }
  KeyedElements(const KeyedElements&) = delete;
  KeyedElements& operator=(const KeyedElements&) = delete;

  Element* find(const Value& key) const;
  Element* make(const Value& key);
  /// An int key of `table` (not a small one) that has no memory there. @return null if there is a number meanwhile
  Element* make_in_chunk(std::int64_t key, ElementTable& table);
  /// @param key  of the table, not a small one
  /// @return which keys of its chunk are here; none: the table has elements for the chunk, which say so themselves
  std::optional<std::vector<std::int64_t>> keys_in_chunk(std::int64_t key, const ElementTable& table) const;
  /// Puts numbers with keys of one chunk into the chunk. Which of them have to be inserted as elements, one by one, is
  /// appended to `rest`: all, if they are few or the chunk holds elements.
  void insert_in_chunk(std::int64_t first, const NumberRun& numbers, ElementTable& table,
                       std::vector<std::int64_t>& rest);
  /// ElementTable::adopt, unless elements of that chunk are here.
  bool adopt_in_chunk(std::int64_t first, NumberChunk::Owner& numbers, ElementTable& table);
  /// In any order. @param visit  (const Value& key, Element&): a lock is held, so it only looks
  template <typename Visit>
  void visit(const Visit& visit) const {
    for (std::size_t i = 0; i < shard_count; ++i) {
      const Locked locked = lock(i);
      for (const auto& [key, element] : locked.shard.elements) visit(key, *element);
      if (&locked.shard == &first_) return;
    }
  }
  /// All elements, sorted by KeyLess.
  std::vector<std::pair<Value, Element*>> sorted() const;

 private:
  static constexpr std::size_t most_unshared = 256;  ///< elements behind one mutex
  static constexpr std::size_t shard_count = 64;
  static constexpr std::size_t chunk_threshold = 16;  ///< keys of a chunk that are kept here at most: 256 bytes a key
  struct KeyHash {
    std::size_t operator()(const Value& key) const;
  };
  struct KeyEqual {
    bool operator()(const Value& a, const Value& b) const;
  };
  /// Hashes lie beside the keys: strings are compared where those are equal only.
  using Map = tsl::robin_map<Value, std::unique_ptr<Element>, KeyHash, KeyEqual,
                             std::allocator<std::pair<Value, std::unique_ptr<Element>>>, /*StoreHash=*/true>;
  struct alignas(64) Shard {
    std::mutex mutex;  ///< guards the maps' shape, not the elements
    Map elements;
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> keys_by_chunk;
    Element* make(const Value& key);
  };
  using Shards = std::array<Shard, shard_count>;
  struct Locked {
    Shard& shard;
    std::unique_lock<std::mutex> lock;
  };

  static bool belongs_in_table(std::int64_t key, const ElementTable& table);
  /// Keys of one chunk are in one shard.
  static std::size_t shard_of(const Value& key);
  /// Locked, the shard of that number, or the first map while that has all.
  Locked lock(std::size_t shard) const;
  /// Made there if it is not, and the first map spread if it is full. The caller lets go of the lock then.
  Element* make_in(Locked& locked, const Value& key);
  void spread();  ///< the first map, whose mutex is held

  mutable Shard first_;
  /// Null until `first_` is full; then made once, with first_.mutex held, and `first_` is empty for ever. Who has found
  /// null looks once more when he has that mutex.
  std::atomic<Shards*> shards_{nullptr};
};

}  // namespace raddle::vm
