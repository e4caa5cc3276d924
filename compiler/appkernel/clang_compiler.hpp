#pragma once
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "compiler/codegen/leaf_cache.hpp"
#include "vm/foreign/app_kernel.hpp"

namespace raddle::appkernel {

/// Compiles AppKernels by hand with Debian's clang++-19 for this processor, and keeps what it has made in the cache of
/// machine code. Kernels that several calls ask for at once are compiled one after the other.
class ClangCompiler final : public vm::AppKernelCompiler {
 public:
  /// @param cache_folder  "": nothing is kept
  explicit ClangCompiler(std::string cache_folder) : cache_folder_(std::move(cache_folder)) {}
  std::expected<std::string, std::string> compile(const vm::ForeignFunction& function) override;

 private:
  std::mutex mutex_;
  const std::string cache_folder_;
  std::optional<codegen::LeafCache> cache_;  ///< opened by who comes first
};

}  // namespace raddle::appkernel
