#pragma once
// Memory for what is large: straight from the system, in huge pages where it has them, kept and used again.
#include <cstddef>
#include <cstdint>

namespace raddle::vm {

/// Blocks of this process. A block that is given back is kept for the next one of about its size: the system clears
/// each page that it hands out, which takes longer than most loops over it. What is kept goes back to the system once
/// `kept_takes` others have been taken since, and the oldest of it where all would be more than a quarter of what
/// memory there is.
/// Huge pages (2 MiB): the first write of 80 MiB takes 5 ms with them, 32 ms without, the next one 2 to 3 ms (medians
/// of 9, two cores of a virtual machine). Now and then it takes 100 to 170 ms with them: the system makes room.
/// Source of keeping blocks by size: Bonwick, Adams, "Magazines and Vmem" (USENIX 2001). Threads: any.
class LargeBlocks {
 public:
  /// Smaller blocks are the allocator's, which keeps those for each thread.
  static constexpr std::size_t least_bytes = std::size_t{512} << 10;
  static constexpr std::uint64_t kept_takes = 64;

  /// Aligned to a page, from 4 MiB on to 2 MiB; what is in it is undefined.
  /// @pre bytes >= least_bytes   @error std::bad_alloc
  static void* take(std::size_t bytes);
  /// @param bytes  as they were taken
  static void give_back(void* block, std::size_t bytes) noexcept;
  /// Of blocks that are in use.
  static std::size_t used_bytes();
  /// Gives all that is kept to the system.
  static void trim() noexcept;

  struct Counters {
    std::uint64_t made = 0, reused = 0;
  };
  /// Since the process began.
  static Counters counters();
};

}  // namespace raddle::vm
