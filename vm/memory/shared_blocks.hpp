#pragma once
// Memory that another process can map: the numbers of arrays that functions in Python are given and give.
#include <cstddef>
#include <cstdint>
#include <string>

namespace raddle::vm {

/// Blocks are parts of one file without a name that lies in memory. Who has its descriptor maps the same part, and
/// reads what is there without a copy. The file is sparse, and each place in it is given out once: of its 2^62 bytes
/// there are always some left. A block that is given back is kept for the next one of its size; when that would be more
/// than a quarter of what memory there is, all that was kept goes back to the system first.
/// Threads: any.
class SharedBlocks {
 public:
  /// Smaller arrays are sent in messages, which takes no longer than to map them.
  static constexpr std::size_t least_bytes = std::size_t{64} << 10;

  struct Block {
    void* address;        ///< of a page
    std::int64_t offset;  ///< in the file, likewise
  };

  /// From now on there are such blocks. Again: nothing is done.
  /// @return "", or why the system has no such file
  static std::string begin();
  static bool have_begun();
  /// Of the file: none of 0 to 9, so that a process which is started can be given it as one of these. -1: there is
  /// none.
  static int descriptor();

  /// What is in it is undefined. @pre have_begun()   @error std::bad_alloc
  static Block take(std::size_t bytes);
  /// @param bytes  as they were taken
  static void give_back(Block block, std::size_t bytes) noexcept;
};

}  // namespace raddle::vm
