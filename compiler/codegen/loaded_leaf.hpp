#pragma once
// A LeafImage in memory, bound to addresses: code to call.
#include <cstddef>
#include <expected>
#include <string>
#include <utility>

#include "compiler/codegen/leaf_image.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::codegen {

/// Owns the memory that the code lies in.
class LoadedLeaf {
 public:
  /// @param image  sound, as image_from_bytes() or the plugin gives it
  /// @error        why not: no memory, a function that nobody has
  static std::expected<LoadedLeaf, std::string> load(const LeafImage& image);
  LoadedLeaf(LoadedLeaf&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), entry_(other.entry_) {}
  LoadedLeaf& operator=(LoadedLeaf&&) = delete;
  ~LoadedLeaf();
  raddle_leaf_function code() const;

 private:
  LoadedLeaf(char* memory, std::size_t size, std::size_t entry) : memory_(memory), size_(size), entry_(entry) {}

  char* memory_;
  const std::size_t size_, entry_;
};

}  // namespace raddle::codegen
