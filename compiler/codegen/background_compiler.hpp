#pragma once
// Gets machine code for kernels, one after the other, on a thread of its own, so that the run goes on meanwhile.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/leaf_cache.hpp"
#include "compiler/codegen/load_plugin.hpp"
#include "compiler/codegen/loaded_leaf.hpp"
#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

struct LeafCounters {
  std::uint64_t compiled = 0, from_cache = 0;
};

/// Takes code from the cache, or has it compiled by the plugin and kept in the cache. The thread starts with the first
/// request, the plugin, and LLVM with it, is loaded when the cache does not have a kernel: what nobody asks for costs
/// nothing. A kernel is looked for once; later requests for it are answered, on the same thread, with what came of the
/// first. Where there is no plugin, or it is of another build, all are answered with nullptr: they are interpreted.
/// Destruction waits for the kernel in work and drops the requests behind it: their `done` is not called.
class BackgroundCompiler final : public vm::KernelCompiler {
 public:
  /// @param unrolls_recursion  see CodeRequest
  /// @param cache_folder  "": no cache
  /// @param plugin_path   "": `plugin_file` beside the executable
  explicit BackgroundCompiler(bool unrolls_recursion, std::string cache_folder = "", std::string plugin_path = "");
  ~BackgroundCompiler() override;
  void request(const vm::KernelGroup& kernels, vm::KernelEntry entry,
               std::function<void(raddle_leaf_function)> done) override;
  void request_ptx(const vm::KernelGroup& kernels, vm::KernelEntry entry,
                   std::function<void(std::string)> done) override;
  void request_super_ptx(const std::vector<vm::RangeKernel>& ranges, std::function<void(std::string)> done) override;
  LeafCounters counters() const { return {compiled_, from_cache_}; }

 private:
  struct Request {
    CodeRequest asked;
    std::function<void(raddle_leaf_function)> done;
    std::function<void(std::string)> done_ptx;  ///< in its place, for KernelTarget::nvptx and super
    std::vector<CodeRequest> ranges{};          ///< for KernelTarget::super: what `asked` is about, one by one
  };
  bool queue(Request request);
  void work(const std::stop_token& stop);
  void answer(const Request& request);
  void answer_ptx(const Request& request);
  std::optional<LoadedLeaf> find(const std::string& key);

  const bool unrolls_recursion_;
  const std::string cache_folder_;
  const Plugin plugin_;
  std::atomic<std::uint64_t> compiled_ = 0, from_cache_ = 0;  ///< written by the thread

  // Of the thread alone; destroyed after it has ended.
  std::optional<LeafCache> cache_;
  std::string plugin_identity_, cpu_identity_;                        ///< part of all keys
  std::unordered_map<std::string, std::optional<LoadedLeaf>> known_;  ///< by key; nothing: can not be compiled

  std::mutex mutex_;  ///< guards requests_ and the start of thread_
  std::condition_variable_any requested_;
  std::deque<Request> requests_;
  std::jthread thread_;
};

}  // namespace raddle::codegen
