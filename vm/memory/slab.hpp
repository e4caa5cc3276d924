#pragma once
// Memory for frames and tasks: free lists of fixed sizes for each worker, refilled from and drained to a depot that all
// share, in batches. A block may be given back by any worker; when one worker allocates and another one frees, batches
// travel through the depot, so that memory does not grow.
#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace raddle::vm {

inline constexpr std::size_t slab_block_limit = 4096;  ///< bytes; larger blocks go to the heap
inline constexpr std::size_t slab_class_count = 16 + 2;

/// Index of the smallest class that holds `size_bytes`: 64, 128 .. 1024, then 2048, 4096.
constexpr std::size_t slab_class(std::size_t size_bytes) {
  if (size_bytes <= 1024) return size_bytes == 0 ? 0 : (size_bytes - 1) / 64;
  return size_bytes <= 2048 ? 16 : 17;
}
constexpr std::size_t slab_class_size(std::size_t index) {
  return index < 16 ? (index + 1) * 64 : 1024u << (index - 15);
}

/// A free block's first bytes.
struct FreeBlock {
  FreeBlock* next;
};

/// Owns all memory. Any thread.
class SlabDepot {
 public:
  SlabDepot() = default;
  SlabDepot(const SlabDepot&) = delete;
  ~SlabDepot();
  /// A list of some blocks of the class, at least one.
  FreeBlock* take_batch(std::size_t index);
  void give_batch(std::size_t index, FreeBlock* batch);
  std::size_t reserved_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::array<std::vector<FreeBlock*>, slab_class_count> batches_;
  std::vector<void*> chunks_;
  std::size_t reserved_bytes_ = 0;
};

/// One worker's free lists. Its thread only.
class SlabCache {
 public:
  explicit SlabCache(SlabDepot& depot) : depot_(depot) {}
  void* allocate(std::size_t size_bytes);
  void deallocate(void* memory, std::size_t size_bytes);

  static constexpr std::size_t batch_size = 64;  ///< blocks

 private:
  struct FreeList {
    FreeBlock* first = nullptr;
    std::size_t count = 0;
    FreeBlock* spare = nullptr;  ///< a full batch kept back, so that taking and giving at the edge costs no lock
  };
  void refill(std::size_t index);
  void drain(std::size_t index);
  SlabDepot& depot_;
  std::array<FreeList, slab_class_count> lists_;
};

}  // namespace raddle::vm
