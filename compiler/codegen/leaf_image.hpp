#pragma once
// Compiled code as data: what the plugin makes, the cache keeps, and LoadedLeaf binds to addresses.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::codegen {

/// The code of one leaf and of those it calls, linked: it can be put anywhere, once its pointers are set. A format of
/// our own, as it holds the little that leaves need: no sections, no symbols, nothing that is written at run time.
struct LeafImage {
  static constexpr std::uint64_t page_bytes = 4096;
  /// 8 bytes at `at` that are to be the address of `target`; both from the start of `content`.
  struct Pointer {
    std::uint64_t at = 0, target = 0;
  };
  /// 8 bytes at `at` that are to be the address of a function outside.
  struct Import {
    std::uint64_t at = 0;
    std::string name;
  };

  std::string content;
  std::uint64_t data_begin = 0;  ///< a multiple of page_bytes: code before it, constants and pointers after
  std::uint64_t entry = 0;       ///< the raddle_leaf_function
  std::vector<Pointer> pointers;
  std::vector<Import> imports;
};

std::string to_bytes(const LeafImage& image);
/// @return nothing if these are not the bytes of an image; in one that is returned every offset lies where it may
std::optional<LeafImage> image_from_bytes(std::string_view bytes);

}  // namespace raddle::codegen
