#include "vm/memory/shared_blocks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/memory/memory_limit.hpp"

namespace raddle::vm {
namespace {

constexpr std::size_t shared_page_bytes = 4096;
constexpr off_t file_bytes = off_t{1} << 62;
constexpr int least_descriptor = 10;

/// Set once, under the mutex, after the file is there (release): whoever finds it may map the file (acquire).
std::atomic<int> shared_descriptor{-1};

using BlocksBySize = std::unordered_map<std::size_t, std::vector<SharedBlocks::Block>>;

struct KeptShared {
  std::mutex mutex;  ///< guards all below
  BlocksBySize blocks;
  std::size_t bytes = 0;
  std::int64_t end = 0;  ///< of what was ever given out in the file
};

/// Never destroyed: blocks are given back until the process ends.
KeptShared& kept_shared() {
  static KeptShared& all = *new KeptShared;
  return all;
}

std::size_t in_shared_pages(std::size_t bytes) {
  return (bytes + shared_page_bytes - 1) / shared_page_bytes * shared_page_bytes;
}

void return_to_system(SharedBlocks::Block block, std::size_t bytes) {
  munmap(block.address, bytes);
  // where the system can not, the pages stay until the process ends
  static_cast<void>(fallocate(shared_descriptor.load(std::memory_order_acquire),
                              FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, block.offset, static_cast<off_t>(bytes)));
}

}  // namespace

std::string SharedBlocks::begin() {
  const std::lock_guard lock(kept_shared().mutex);
  if (have_begun()) return {};
  const int made = memfd_create("raddle-arrays", MFD_CLOEXEC);
  const int descriptor = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, least_descriptor);
  const bool is_there = descriptor >= 0 && ftruncate(descriptor, file_bytes) == 0;
  const int error = errno;
  if (made >= 0) close(made);
  if (is_there) {
    shared_descriptor.store(descriptor, std::memory_order_release);
    return {};
  }
  if (descriptor >= 0) close(descriptor);
  return std::string("no memory can be shared with other processes: ") + std::strerror(error);
}

bool SharedBlocks::have_begun() { return descriptor() >= 0; }

int SharedBlocks::descriptor() { return shared_descriptor.load(std::memory_order_acquire); }

SharedBlocks::Block SharedBlocks::take(std::size_t bytes) {
  if (bytes > ~std::size_t{0} / 2) throw std::bad_alloc();
  bytes = in_shared_pages(bytes);
  KeptShared& all = kept_shared();
  std::int64_t offset = 0;
  {
    const std::lock_guard lock(all.mutex);
    std::vector<Block>& of_size = all.blocks[bytes];
    if (!of_size.empty()) {
      const Block block = of_size.back();
      of_size.pop_back();
      all.bytes -= bytes;
      return block;
    }
    offset = all.end;
    if (bytes > static_cast<std::size_t>(file_bytes - offset)) throw std::bad_alloc();
    all.end += static_cast<std::int64_t>(bytes);
  }
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), offset);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return {address, offset};
}

void SharedBlocks::give_back(Block block, std::size_t bytes) noexcept {
  bytes = in_shared_pages(bytes);
  KeptShared& all = kept_shared();
  BlocksBySize unwanted;
  try {
    const std::size_t most = memory_limit_bytes() / 4;
    const std::lock_guard lock(all.mutex);
    if (all.bytes + bytes > most) {
      unwanted.swap(all.blocks);
      all.bytes = 0;
    }
    if (bytes <= most) {
      all.blocks[bytes].push_back(block);
      all.bytes += bytes;
      block.address = nullptr;
    }
  } catch (const std::bad_alloc&) {
    // not kept
  }
  if (block.address != nullptr) return_to_system(block, bytes);
  for (const auto& [size, blocks] : unwanted)
    for (const Block& each : blocks) return_to_system(each, size);
}

}  // namespace raddle::vm
