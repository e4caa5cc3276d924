#include "vm/memory/large_blocks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "vm/memory/memory_limit.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t page_bytes = 4096, huge_page_bytes = std::size_t{2} << 20;

struct Block {
  void* address;
  std::size_t bytes;
  std::uint64_t kept_since;  ///< how many had been taken by then
};

struct Kept {
  std::mutex mutex;           ///< guards all below
  std::vector<Block> blocks;  ///< the oldest first
  std::size_t bytes = 0;
  std::size_t used_bytes = 0;  ///< of blocks that are not among them
  LargeBlocks::Counters counters;

  std::uint64_t taken() const { return counters.made + counters.reused; }
  /// Takes blocks out that have been kept for long, or are too many with `more` bytes besides. @error std::bad_alloc
  std::vector<Block> take_unwanted(std::size_t more) {
    std::size_t wanted_bytes = bytes;
    auto wanted = blocks.begin();
    const auto is_unwanted = [&](const Block& block) {
      return block.kept_since + LargeBlocks::kept_takes < taken() || wanted_bytes + more > most_bytes();
    };
    for (; wanted != blocks.end() && is_unwanted(*wanted); ++wanted) wanted_bytes -= wanted->bytes;
    std::vector<Block> unwanted(blocks.begin(), wanted);
    blocks.erase(blocks.begin(), wanted);
    bytes = wanted_bytes;
    return unwanted;
  }
  static std::size_t most_bytes() { return memory_limit_bytes() / 4; }
};

/// Never destroyed: blocks are given back until the process ends.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

/// Eight sizes between two powers of two, so that arrays of about the same size use the same blocks.
std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = std::max(page_bytes, std::bit_floor(bytes) / 8);
  return (bytes + unit - 1) / unit * unit;
}

void unmap(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) munmap(block.address, block.bytes);
}

/// @return nullptr: the system has none
void* map(std::size_t bytes) {
  if (bytes < 2 * huge_page_bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped == MAP_FAILED ? nullptr : mapped;
  }
  const std::size_t with_margin = bytes + huge_page_bytes;
  void* const mapped = mmap(nullptr, with_margin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before =
      (huge_page_bytes - reinterpret_cast<std::uintptr_t>(begin) % huge_page_bytes) % huge_page_bytes;
  if (before != 0) munmap(begin, before);
  if (before != huge_page_bytes) munmap(begin + before + bytes, huge_page_bytes - before);
  // A hint: where there are none, small ones do. The end has small ones, so that it takes no more than it needs.
  static_cast<void>(madvise(begin + before, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE));
  return begin + before;
}

}  // namespace

void* LargeBlocks::take(std::size_t bytes) {
  if (bytes > ~std::size_t{0} / 2) throw std::bad_alloc();
  bytes = rounded(bytes);
  Kept& all = kept();
  std::vector<Block> unwanted;
  {
    const std::lock_guard lock(all.mutex);
    all.used_bytes += bytes;
    const auto last = std::ranges::find(all.blocks.rbegin(), all.blocks.rend(), bytes, &Block::bytes);
    if (last != all.blocks.rend()) {
      void* const block = last->address;
      all.blocks.erase(std::prev(last.base()));
      all.bytes -= bytes;
      ++all.counters.reused;
      return block;
    }
    ++all.counters.made;
    unwanted = all.take_unwanted(0);
  }
  unmap(unwanted);
  void* block = map(bytes);
  if (!block) {
    trim();
    block = map(bytes);
  }
  if (!block) {
    const std::lock_guard lock(all.mutex);
    all.used_bytes -= bytes;
    throw std::bad_alloc();
  }
  return block;
}

void LargeBlocks::give_back(void* block, std::size_t bytes) noexcept {
  bytes = rounded(bytes);
  std::vector<Block> unwanted;
  bool is_kept = false;
  {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    all.used_bytes -= bytes;
    try {
      if (bytes <= all.most_bytes()) {
        unwanted = all.take_unwanted(bytes);
        all.blocks.push_back({block, bytes, all.taken()});
        all.bytes += bytes;
        is_kept = true;
      }
    } catch (const std::bad_alloc&) {
      // not kept
    }
  }
  if (!is_kept) munmap(block, bytes);
  unmap(unwanted);
}

std::size_t LargeBlocks::used_bytes() {
  const std::lock_guard lock(kept().mutex);
  return kept().used_bytes;
}

void LargeBlocks::trim() noexcept {
  std::vector<Block> unwanted;
  {
    const std::lock_guard lock(kept().mutex);
    unwanted.swap(kept().blocks);
    kept().bytes = 0;
  }
  unmap(unwanted);
}

LargeBlocks::Counters LargeBlocks::counters() {
  const std::lock_guard lock(kept().mutex);
  return kept().counters;
}

}  // namespace raddle::vm
