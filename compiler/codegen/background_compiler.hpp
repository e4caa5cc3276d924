#pragma once
// Gets machine code for kernels, on threads of its own, so that the run goes on meanwhile.
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

/// Takes code from the cache, or has it compiled by the plugin and kept in the cache. Threads start with requests that
/// none waits for, the plugin, and LLVM with it, is loaded when the cache does not have a kernel: what nobody asks for
/// costs nothing. A kernel is looked for once; other requests for it are answered with what came of the first. Where
/// there is no plugin, or it is of another build, all are answered with nullptr: they are interpreted. Destruction
/// waits for the kernels in work and drops the requests behind them: their `done` is not called.
class BackgroundCompiler final : public vm::KernelCompiler {
 public:
  /// @param unrolls_recursion  see CodeRequest
  /// @param most_threads  kernels that are compiled at a time, 1 or more
  /// @param cache_folder  "": no cache
  /// @param plugin_path   "": `plugin_file` beside the executable
  BackgroundCompiler(bool unrolls_recursion, unsigned most_threads, std::string cache_folder = "",
                     std::string plugin_path = "");
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
  /// What is known of a kernel.
  struct Known {
    bool is_ready = false;
    std::optional<LoadedLeaf> leaf;                                       ///< ready and none: it can not be compiled
    std::vector<std::function<void(raddle_leaf_function)>> waiting = {};  ///< until it is ready
  };
  bool queue(Request request);
  void open_cache();
  void work(const std::stop_token& stop);
  void answer(const Request& request);
  void answer_ptx(const Request& request);
  std::optional<LoadedLeaf> find(const std::string& key);
  void make_ready(Known& known, std::optional<LoadedLeaf> leaf);

  const bool unrolls_recursion_;
  const unsigned most_threads_;
  const std::string cache_folder_;
  const Plugin plugin_;
  std::atomic<std::uint64_t> compiled_ = 0, from_cache_ = 0;  ///< statistics: relaxed

  // Written by the thread that begins first, before any other reads them (std::call_once).
  std::once_flag is_opened_;
  std::optional<LeafCache> cache_;
  std::string plugin_identity_, cpu_identity_;  ///< part of all keys

  std::mutex mutex_;  ///< guards all below
  std::condition_variable_any requested_;
  std::deque<Request> requests_;
  std::size_t idle_threads_ = 0;
  std::unordered_map<std::string, Known> known_;  ///< by key
  std::vector<std::jthread> threads_;
};

}  // namespace raddle::codegen
