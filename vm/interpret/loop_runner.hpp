#pragma once
// Iterations of a loop that fills arrays, many in one call of its kernel.
#include <cstdint>
#include <optional>
#include <vector>

#include "vm/interpret/deferred_call.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// Note [loop kernels]. Machine code runs some iterations of a `for` and writes what they insert into rows, keys beside
/// values; then the VM inserts these. So what one call does counts as a whole or not at all: if one of its iterations
/// does not end well, half as many are tried, and so on. What is left is the iteration itself, which the interpreter
/// runs, for the words of a failure or to wait for what it lacks.
class LoopRunner : WorkerService {
 public:
  explicit LoopRunner(RunWorker& here) : WorkerService(here), paces_(program_.loops.size()) {}

  /// The loop has a kernel that can be called, now or once there is code.
  bool has_kernel(const LoopSite& site) const;
  /// What such a loop is to wait for before it begins; null: all is there.
  /// @param frame  around the loop
  Future* awaited_input(Frame& frame, const LoopSite& site);
  /// Runs iterations until the loop ends, one does not end well, or others are to have their turn.
  /// @param frame   around the loop
  /// @param values  of the loop's variables; they become those of the iteration that is next, or that ends the loop
  /// @return others are to have their turn
  bool run(Frame& frame, const LoopSite& site, std::vector<Value>& values);

 private:
  /// How many iterations of a loop are tried at once, as a worker has learned it.
  struct Pace {
    std::int64_t most = 16;
    std::uint32_t to_skip = 0, skipped_before = 0;  ///< iterations that are left to the interpreter, after failures
  };
  bool encode_inputs(Frame& frame, const LoopSite& site, const std::vector<Value>& values);
  /// @param most  iterations  @return how many it has run; none: one of them does not end well
  std::optional<std::int64_t> call(Frame& frame, const LoopSite& site, raddle_leaf_function code, std::int64_t most,
                                   std::vector<Value>& values);
  bool run_kernel(const LoopKernelSite& kernel, raddle_leaf_function code, std::int64_t most,
                  const std::vector<std::int64_t>& there);
  void find_history(Frame& frame, const LoopKernelSite& kernel, std::vector<std::int64_t>& there);
  void clear_keys(const LoopKernelSite& kernel, std::int64_t most);

  // ---- what has been inserted
  void insert_all(Frame& frame, const LoopKernelSite& kernel, const std::vector<std::int64_t>& there,
                  std::int64_t count);
  static bool is_run(const std::int64_t* keys, std::int64_t count);
  void insert_run(Array& array, std::int64_t first, const NumberRun& numbers, std::size_t sink);
  void collect(const NumberRun& values, std::size_t sink);
  void insert_as_run(Array& array, ValueKind kind);
  void insert_one(Frame& frame, const LoopSink& sink, Array& array, std::int64_t key, Value value);

  ValueKind kind_of_sink(const LoopKernelSite& kernel, std::size_t sink) const;
  std::int64_t* keys_of(std::size_t sink) { return rows_.data() + 2 * sink * row_words_; }
  std::byte* values_of(std::size_t sink) { return reinterpret_cast<std::byte*>(keys_of(sink) + row_words_); }

  struct Inserted {
    std::int64_t key, bits;
    std::size_t sink;
  };
  std::vector<Pace> paces_;  ///< by loop of the program
  std::vector<std::int64_t> rows_;
  std::size_t row_words_ = 0;
  std::vector<std::int64_t> words_, results_;  ///< of a call: variables and captures; what it gives
  std::size_t variable_count_ = 0;
  // for one array after the other
  std::vector<Inserted> inserted_;
  std::vector<std::uint64_t> sorted_;  ///< their bits by key
  std::vector<std::uint32_t> sinks_;   ///< likewise
  std::vector<Inserted> left_;         ///< to be inserted one by one
  std::vector<std::int64_t> left_keys_;
};

/// A loop that waits until its kernel can run. Owns a reference to the frame around it.
class LoopStart final : public DeferredCall {
 public:
  LoopStart(Frame& frame, const Instruction& in) : frame_(frame), in_(in) {}
  void run(Worker& worker) override;
  void resolved(Worker& worker) override;
  DeferredCall* replacement(CellCache& cache) override;

 private:
  Frame& frame_;
  const Instruction& in_;
};

}  // namespace raddle::vm
