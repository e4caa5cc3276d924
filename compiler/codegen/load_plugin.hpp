#pragma once
// The tool's side of codegen: loads libraddle_codegen.so, and LLVM with it, when the first leaf asks for code.
// Includes no LLVM header and links no LLVM, so that a script without hot leaves never pays for it.
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/leaf_source.hpp"
#include "vm/program/leaf_library.hpp"

namespace raddle::codegen {

/// Loads the plugin at the first request, on a thread of its own, then passes all requests on to its compiler.
/// Where there is no plugin, or it is of another build, every leaf is answered with nullptr: it is interpreted.
/// Threads: request() from any.
class LazyLeafCompiler final : public vm::LeafCompiler {
 public:
  /// @param plugin_path  "": `plugin_file` beside the executable
  explicit LazyLeafCompiler(const LeafSource& source, std::string plugin_path = "");
  ~LazyLeafCompiler() override;
  void request(vm::LeafId leaf, std::function<void(raddle_leaf_function)> done) override;

 private:
  enum class State : std::uint8_t { asleep, loading, loaded, not_available };
  struct Request {
    vm::LeafId leaf;
    std::function<void(raddle_leaf_function)> done;
  };
  void load();

  const LeafSource source_;
  const std::string plugin_path_;
  std::mutex mutex_;  ///< guards what follows, but thread_'s join
  State state_ = State::asleep;
  std::vector<Request> waiting_;  ///< while loading
  std::unique_ptr<vm::LeafCompiler> compiler_;
  std::jthread thread_;
};

/// `--emit=llvm`: all leaves as LLVM IR. @error  why not: no plugin, or LLVM's text
std::expected<std::string, std::string> leaf_llvm_text(const LeafSource& source, bool optimised,
                                                       std::string plugin_path = "");

}  // namespace raddle::codegen
