#include "compiler/tool/sweep/earlier_blocks.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace raddle::sweep {
namespace {

/// Open addressing; a key that is there twice leads to one of the two, and that to the other.
class KeyTable {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  explicit KeyTable(std::span<const std::uint64_t> keys)
      : keys_(keys), equal_(keys.size()), slots_(std::bit_ceil(2 * keys.size() + 2), none), mask_(slots_.size() - 1) {
    for (std::uint32_t i = 0; i < keys.size(); ++i) equal_[i] = std::exchange(slot_of(keys[i]), i);
  }
  std::uint32_t find(std::uint64_t key) { return slot_of(key); }
  /// Another one with the key of that at `index`, or none.
  std::uint32_t next_equal(std::uint32_t index) const { return equal_[index]; }

 private:
  std::uint32_t& slot_of(std::uint64_t key) {
    std::size_t at = key & mask_;  // keys are hashes
    while (slots_[at] != none && keys_[slots_[at]] != key) at = (at + 1) & mask_;
    return slots_[at];
  }
  std::span<const std::uint64_t> keys_;
  std::vector<std::uint32_t> equal_;
  std::vector<std::uint32_t> slots_;
  std::size_t mask_;
};

}  // namespace

/// @param take  told of a block in which some are found for the first time
template <typename Take>
std::vector<bool> EarlierBlocks::search(std::span<const std::uint64_t> numbers, std::span<const std::uint64_t> keys,
                                        const Take& take, bool only_near) {
  std::vector<bool> is_found(keys.size());
  if (keys.empty() || heads_.empty()) return is_found;
  KeyTable table(keys);
  const auto [lowest, highest] = std::ranges::minmax(numbers);
  const auto is_near = [&](const vm::BlockHead& head) { return head.first <= highest && head.last >= lowest; };
  std::size_t left = keys.size();
  std::vector<Match> matches;
  const auto look_into = [&](const vm::BlockHead& head) {
    const std::vector<std::uint64_t> own = record_.block_keys(head.row);
    matches.clear();
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      std::uint32_t wanted = table.find(own[i]);
      if (wanted != KeyTable::none && is_found[wanted]) continue;
      for (; wanted != KeyTable::none; wanted = table.next_equal(wanted)) {
        is_found[wanted] = true;
        matches.push_back({wanted, i});
      }
    }
    left -= matches.size();
    if (!matches.empty()) take(head, matches);
  };
  for (const bool near : {true, false})
    for (const vm::BlockHead& head : heads_)
      if (left != 0 && is_near(head) == near && (near || (!head.is_of_first_run && !only_near))) look_into(head);
  return is_found;
}

std::vector<bool> EarlierBlocks::contain(std::span<const std::uint64_t> numbers, std::span<const std::uint64_t> keys,
                                         bool only_near) {
  return search(
      numbers, keys, [](const vm::BlockHead&, const std::vector<Match>&) {}, only_near);
}

BlockValues EarlierBlocks::find(std::span<const std::uint64_t> numbers, std::span<const std::uint64_t> keys) {
  BlockValues values;
  values.durations_s.resize(keys.size());
  values.is_found = search(numbers, keys, [&](const vm::BlockHead& head, const std::vector<Match>& matches) {
    const vm::BlockRow block = record_.block(head.row);
    const auto duration_s = static_cast<float>(block.duration_s / static_cast<double>(block.keys.size()));
    values.columns.resize(std::max(values.columns.size(), block.columns.size()));
    for (std::size_t column = 0; column < block.columns.size(); ++column) {
      values.columns[column].resize(keys.size());
      for (const Match& match : matches) values.columns[column][match.wanted] = block.columns[column][match.found];
    }
    for (const Match& match : matches) values.durations_s[match.wanted] = duration_s;
  });
  return values;
}

}  // namespace raddle::sweep
