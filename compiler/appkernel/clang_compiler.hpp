#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "compiler/codegen/leaf_cache.hpp"
#include "vm/foreign/app_kernel.hpp"

namespace raddle::appkernel {

/// Compiles AppKernels by hand with Debian's clang++-19, for this processor and for GPUs, and keeps what it has made in
/// the cache of machine code. Those of the library are compiled already (LibraryCode). Kernels for this processor that
/// several calls ask for at once are compiled one after the other.
class ClangCompiler final : public vm::AppKernelCompiler {
 public:
  /// @param cache_folder  "": nothing is kept on disk
  /// @param checks        calls are to be made by lanes, too
  ClangCompiler(std::string cache_folder, bool checks) : cache_folder_(std::move(cache_folder)), checks_(checks) {}
  std::expected<vm::AppKernelCode, std::string> load(const vm::ForeignFunction& function) override;
  std::expected<vm::AppKernelCode, std::string> load_check(const vm::ForeignFunction& function) override;
  void request_ptx(const vm::ForeignFunction& function, PtxReceiver done) override;

 private:
  enum class Target : std::uint8_t { host, lanes, gpu };
  struct Made {
    std::string key, code;
  };
  using Loaded = std::expected<vm::AppKernelCode, std::string>;
  using KnownCode = std::unordered_map<const vm::ForeignFunction*, Loaded>;
  Loaded load_once(const vm::ForeignFunction& function, Target target, KnownCode& known);
  Loaded load_anew(const vm::ForeignFunction& function, Target target);
  std::expected<Made, std::string> made(const vm::ForeignFunction& function, Target target);
  void work(const std::stop_token& stop);
  std::expected<std::string, std::string> ptx(const vm::ForeignFunction& function);
  std::optional<std::string> find(const std::string& key);
  void store(const Made& made);

  const std::string cache_folder_;
  const bool checks_;
  std::mutex mutex_;  ///< guards what follows, also while a kernel is compiled
  KnownCode loaded_, loaded_checks_;
  std::mutex cache_mutex_;                   ///< guards cache_; may be taken under mutex_
  std::optional<codegen::LeafCache> cache_;  ///< opened by who comes first
  std::mutex requests_mutex_;                ///< guards requests_ and thread_
  std::condition_variable_any requested_;
  std::deque<std::pair<const vm::ForeignFunction*, PtxReceiver>> requests_;
  std::jthread thread_;  ///< last, as it uses all of the above; starts with the first request
};

/// Makes the code of one of the library's AppKernels, unless it is there: LibraryCode. @return what went wrong, or ""
std::string make_library_code(const vm::ForeignFunction& function, const std::string& folder);

}  // namespace raddle::appkernel
