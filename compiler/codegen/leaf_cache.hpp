#pragma once
// Compiled leaves on disk, by content.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "vm/value/file_descriptor.hpp"

namespace raddle::codegen {

/// $XDG_CACHE_HOME/raddle/jit, or that in ~/.cache. @return "" if neither variable names an absolute path
std::string default_cache_folder();
/// The folder `cubins` beside it: there drivers of GPUs keep what they compile. Made if it is not there.
/// @return "" if it can not be used, as for LeafCache
std::string usable_cubin_folder();

/// A folder with a file for each key. Any number of runs may share it: a file appears whole, under its name, by a
/// rename, and is not changed after. What is stored is run by whoever finds it, so folder and files are taken only if
/// nobody but their owner, the user, may write them; and a disk may be full or fail, so a file has a checksum. It has
/// the whole key, too, so that the hash it is named by need not be one without collisions.
/// Nothing here is an error: what can not be read is not there, what can not be written is not kept.
/// Threads: any, one at a time for each key.
class LeafCache {
 public:
  static constexpr std::uint64_t usual_most_bytes = 64 << 20;  ///< some 8000 leaves: files take whole blocks

  /// @param folder      made if it is not there; "": nothing is kept
  /// @param most_bytes  soon after it is more than that, those files go that nobody has asked for longest
  explicit LeafCache(const std::string& folder, std::uint64_t most_bytes = usual_most_bytes);

  bool is_usable() const { return static_cast<bool>(folder_); }
  std::optional<std::string> find(const std::string& key);
  void store(const std::string& key, std::string_view content);

 private:
  void remove_oldest();

  const std::uint64_t most_bytes_;
  const vm::FileDescriptor folder_;
};

}  // namespace raddle::codegen
