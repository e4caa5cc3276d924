#pragma once
// Native code of leaf functions as it becomes available.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/kernel/kernel_compiler.hpp"
#include "vm/program/program.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

class Throttle;

/// Shared with the compiler's callbacks, which may come after the run has ended: then they find it closed.
class LeafTable {
 public:
  enum class Stage : std::uint8_t {
    interpreted,  ///< nobody has asked for code yet
    requested,
    native,
    impossible,  ///< there will be no code
  };

  /// @param program       must outlive this
  /// @param points_alone  points of launches are run one by one: code for many side by side would only cost time
  LeafTable(const Program& program, KernelCompiler* compiler, bool points_alone, WorkerPool& pool, Throttle& throttle);
  /// The run has ended: code that comes now wakes nobody. Before the calls that wait for it are freed.
  void close();

  /// null: not there (yet).
  raddle_leaf_function code(FunctionId leaf) const { return entries_->at(leaf).code.load(std::memory_order_acquire); }
  Stage stage(FunctionId leaf) const { return entries_->at(leaf).stage.load(std::memory_order_acquire); }
  /// Counts interpreted calls. @return how many there were before
  std::uint32_t count_calls(FunctionId leaf, std::uint32_t count) {
    return entries_->at(leaf).calls.fetch_add(count, std::memory_order_relaxed);
  }
  /// Asks for code in the background, once.
  void request(FunctionId leaf);
  /// Injects `call` as soon as it is known whether there is code (asks for it if nobody has). Begins an operation of
  /// the throttle. @return false if that is known already: not kept
  bool wait(FunctionId leaf, Task& call);
  /// Calls wait for code.
  bool is_awaited() const;

 private:
  struct Entry {
    std::atomic<raddle_leaf_function> code{nullptr};  ///< by the compiler's thread; publishes the code
    std::atomic<Stage> stage{Stage::interpreted};     ///< written under the mutex
    std::atomic<std::uint32_t> calls{0};              ///< a statistic: relaxed
    Task* waiting = nullptr;                          ///< guarded by Shared::mutex
    std::uint32_t waiting_count = 0;                  ///< likewise
    bool has_hold = false;                            ///< likewise
  };
  struct Shared {
    explicit Shared(std::size_t count) : entries(count) {}
    Entry& at(FunctionId leaf) { return entries[leaf]; }
    void finished(FunctionId leaf, raddle_leaf_function code);
    std::mutex mutex;
    std::vector<Entry> entries;
    WorkerPool* pool = nullptr;     ///< guarded by the mutex; null when the run has ended
    Throttle* throttle = nullptr;   ///< the same
    std::size_t awaited_count = 0;  ///< guarded by the mutex: entries with a hold
  };
  bool claim(Entry& entry);

  const Program& program_;
  KernelCompiler* const compiler_;
  const bool points_alone_;
  std::shared_ptr<Shared> entries_;
};

}  // namespace raddle::vm
