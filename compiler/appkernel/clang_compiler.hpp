#pragma once
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/codegen/leaf_cache.hpp"
#include "vm/foreign/app_kernel.hpp"

namespace raddle::appkernel {

/// Compiles AppKernels by hand with Debian's clang++-19 for this processor, keeps what it has made in the cache of
/// machine code, and loads it. Kernels that several calls ask for at once are compiled one after the other.
class ClangCompiler final : public vm::AppKernelCompiler {
 public:
  /// @param cache_folder  "": nothing is kept on disk
  explicit ClangCompiler(std::string cache_folder) : cache_folder_(std::move(cache_folder)) {}
  std::expected<vm::AppKernelCode, std::string> load(const vm::ForeignFunction& function) override;

 private:
  using Loaded = std::expected<vm::AppKernelCode, std::string>;
  Loaded load_anew(const vm::ForeignFunction& function);

  const std::string cache_folder_;
  std::mutex mutex_;                         ///< guards what follows
  std::optional<codegen::LeafCache> cache_;  ///< opened by who comes first
  std::unordered_map<const vm::ForeignFunction*, Loaded> loaded_;
};

}  // namespace raddle::appkernel
