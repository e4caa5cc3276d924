#include "vm/memory/large_blocks.hpp"

#include <sys/mman.h>

#include <algorithm>
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
};

struct Kept {
  std::mutex mutex;  ///< guards all below
  std::vector<Block> blocks;
  std::size_t bytes = 0;
  LargeBlocks::Counters counters;
};

/// Never destroyed: blocks are given back until the process ends.
Kept& kept() {
  static Kept& all = *new Kept;
  return all;
}

std::size_t rounded(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

void unmap(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) munmap(block.address, block.bytes);
}

/// @return nullptr: the system has none
void* map(std::size_t bytes) {
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
    const auto found = std::ranges::find(all.blocks, bytes, &Block::bytes);
    if (found != all.blocks.end()) {
      void* const block = found->address;
      all.blocks.erase(found);
      all.bytes -= bytes;
      ++all.counters.reused;
      return block;
    }
    ++all.counters.made;
    all.bytes = 0;
    unwanted = std::exchange(all.blocks, {});
  }
  unmap(unwanted);
  void* const block = map(bytes);
  if (!block) throw std::bad_alloc();
  return block;
}

void LargeBlocks::give_back(void* block, std::size_t bytes) noexcept {
  bytes = rounded(bytes);
  Kept& all = kept();
  try {
    const std::lock_guard lock(all.mutex);
    if (all.bytes + bytes <= memory_limit_bytes() / 4) {
      all.blocks.push_back({block, bytes});
      all.bytes += bytes;
      return;
    }
  } catch (const std::bad_alloc&) {
    // not kept
  }
  munmap(block, bytes);
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
