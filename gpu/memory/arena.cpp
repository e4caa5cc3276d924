#include "gpu/memory/arena.hpp"

#include <algorithm>
#include <bit>

namespace raddle::gpu {

Arena::Bin Arena::bin_of(std::size_t granules) {
  const auto level = static_cast<unsigned>(std::bit_width(granules)) - 1;
  const std::size_t rest = granules - (std::size_t{1} << level);
  const std::size_t part = level >= parts_log2 ? rest >> (level - parts_log2) : rest << (parts_log2 - level);
  return {level, static_cast<unsigned>(part)};
}

std::optional<Arena::Bin> Arena::first_bin_from(Bin bin) const {
  const unsigned here = filled_parts_[bin.level] & (~0U << bin.part);
  if (here != 0) return Bin{bin.level, static_cast<unsigned>(std::countr_zero(here))};
  const std::uint64_t above = bin.level + 1 < levels ? filled_levels_ & (~std::uint64_t{0} << (bin.level + 1)) : 0;
  if (above == 0) return {};
  const auto level = static_cast<unsigned>(std::countr_zero(above));
  return Bin{level, static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(filled_parts_[level])))};
}

/// Every block of a bin above that of the size is large enough. In that bin itself only some are.
Arena::Block* Arena::find(std::size_t bytes) const {
  const Bin own = bin_of(bytes / granule);
  const Bin next = own.part + 1 < parts ? Bin{own.level, own.part + 1} : Bin{own.level + 1, 0};
  if (next.level < levels)
    if (const std::optional<Bin> bin = first_bin_from(next)) return bins_[bin->level][bin->part];
  Block* block = bins_[own.level][own.part];
  for (int i = 0; i < looks && block != nullptr && block->bytes < bytes; ++i) block = block->next;
  return block != nullptr && block->bytes >= bytes ? block : nullptr;
}

Arena::Block* Arena::make_block(std::uint64_t address, std::size_t bytes) {
  Block* block = nullptr;
  if (unused_.empty()) {
    block = &blocks_.emplace_back();
  } else {
    block = unused_.back();
    unused_.pop_back();
  }
  *block = {.address = address, .bytes = bytes};
  return block;
}

void Arena::insert(Block* block) {
  const Bin bin = bin_of(block->bytes / granule);
  Block*& first = bins_[bin.level][bin.part];
  block->is_free = true;
  block->previous = nullptr;
  block->next = first;
  if (first != nullptr) first->previous = block;
  first = block;
  filled_levels_ |= std::uint64_t{1} << bin.level;
  filled_parts_[bin.level] |= static_cast<std::uint8_t>(1U << bin.part);
}

void Arena::remove(Block* block) {
  const Bin bin = bin_of(block->bytes / granule);
  Block*& first = bins_[bin.level][bin.part];
  block->is_free = false;
  if (block->next != nullptr) block->next->previous = block->previous;
  (block->previous != nullptr ? block->previous->next : first) = block->next;
  if (first != nullptr) return;
  filled_parts_[bin.level] &= static_cast<std::uint8_t>(~(1U << bin.part));
  if (filled_parts_[bin.level] == 0) filled_levels_ &= ~(std::uint64_t{1} << bin.level);
}

void Arena::add(const Chunk& chunk) {
  Block* const block = make_block(chunk.address, chunk.bytes);
  chunks_.push_back(block);
  insert(block);
}

Arena::Block* Arena::take(std::size_t bytes) {
  bytes = std::max(granule, rounded(bytes));
  Block* const block = find(bytes);
  if (block == nullptr) return nullptr;
  remove(block);
  taken_bytes_ += bytes;
  if (block->bytes == bytes) return block;
  Block* const rest = make_block(block->address + bytes, block->bytes - bytes);
  rest->below = block;
  rest->above = block->above;
  if (rest->above != nullptr) rest->above->below = rest;
  block->above = rest;
  block->bytes = bytes;
  insert(rest);
  return block;
}

/// With the block above it.
void Arena::join(Block* lower) {
  Block* const upper = lower->above;
  lower->bytes += upper->bytes;
  lower->above = upper->above;
  if (lower->above != nullptr) lower->above->below = lower;
  unused_.push_back(upper);
}

void Arena::give_back(Block* block) {
  taken_bytes_ -= block->bytes;
  if (block->above != nullptr && block->above->is_free) {
    remove(block->above);
    join(block);
  }
  if (block->below != nullptr && block->below->is_free) {
    block = block->below;
    remove(block);
    join(block);
  }
  insert(block);
}

std::optional<Arena::Chunk> Arena::take_empty_chunk() {
  const auto empty =
      std::ranges::find_if(chunks_, [](const Block* lowest) { return lowest->is_free && lowest->above == nullptr; });
  if (empty == chunks_.end()) return {};
  Block* const block = *empty;
  remove(block);
  chunks_.erase(empty);
  unused_.push_back(block);
  return Chunk{block->address, block->bytes};
}

}  // namespace raddle::gpu
