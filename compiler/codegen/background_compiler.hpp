#pragma once
// Compiles leaves one after the other on a thread of its own, so that the run goes on meanwhile.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/compile_leaves.hpp"
#include "vm/program/leaf_library.hpp"

namespace raddle::codegen {

/// The thread starts with the first request, and LLVM with it: a compiler that nobody asks costs nothing.
/// A leaf is compiled once; later requests for it are answered, on the same thread, with what came of the first.
/// Destruction waits for the leaf in work and drops the requests behind it: their `done` is not called.
class BackgroundCompiler final : public vm::LeafCompiler {
 public:
  explicit BackgroundCompiler(const LeafSource& source) : source_(source) {}
  ~BackgroundCompiler() override;
  void request(vm::LeafId leaf, std::function<void(raddle_leaf_function)> done) override;

 private:
  struct Request {
    vm::LeafId leaf;
    std::function<void(raddle_leaf_function)> done;
  };
  void work(const std::stop_token& stop);
  raddle_leaf_function compile(vm::LeafId leaf);

  const LeafSource source_;
  // Of the thread alone; destroyed after it has ended.
  std::unique_ptr<LeafJit> jit_;
  std::unordered_map<vm::LeafId, raddle_leaf_function> compiled_;  ///< nullptr: can not be compiled

  std::mutex mutex_;  ///< guards requests_ and the start of thread_
  std::condition_variable_any requested_;
  std::deque<Request> requests_;
  std::jthread thread_;
};

}  // namespace raddle::codegen
