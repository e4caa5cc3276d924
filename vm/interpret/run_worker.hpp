#pragma once
// A worker as a run has it: futures are set, frames made and freed, tasks queued, failures noted here. The services
// that do all else know each other through it.
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/interpret/run.hpp"
#include "vm/interpret/writers.hpp"
#include "vm/memory/cell_store.hpp"
#include "vm/program/program.hpp"
#include "vm/schedule/worker_pool.hpp"
#include "vm/value/array.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

class Interpreter;    // vm/interpret/interpreter.hpp
class KernelCaller;   // vm/interpret/kernel_caller.hpp
class Launcher;       // vm/launch/launcher.hpp
class LoopRunner;     // vm/interpret/loop_runner.hpp
class MemoCaller;     // vm/calls/memo_caller.hpp
class ProgramCaller;  // vm/calls/program_caller.hpp

/// Who may keep a failure from the run. Which of two that write to one place fails is an accident of the schedule: such
/// a failure is always one of the run.
enum class KeptBy : std::uint8_t { attempts, nobody };

/// One for each worker of a run; only that worker's thread calls it and the services that it owns. Aligned: no two
/// workers write to one cache line.
class alignas(64) RunWorker {
 public:
  /// @param worker  of the run's pool  @param cache  that worker's. All outlive this
  RunWorker(Run& run, Worker& worker, CellCache& cache);
  ~RunWorker();

  Run& run() { return run_; }
  const Program& program() const { return program_; }
  Worker& worker() { return worker_; }

  // --- services
  Interpreter& interpreter() { return *interpreter_; }
  KernelCaller& kernels() { return *kernels_; }
  Launcher& launcher() { return *launcher_; }
  LoopRunner& loops() { return *loops_; }
  ProgramCaller& programs() { return *programs_; }
  MemoCaller& memos() { return *memos_; }
  Writers& writers() { return writers_; }

  // --- futures
  /// Assigns, waking whoever waits. A second assignment fails at `instruction` of `frame`.
  void set(Future& future, Value value, Frame& frame, std::uint32_t instruction, Operand variable);
  /// The same for futures that are no variables. @return false: it was assigned already
  bool set(Future& future, Value value) {
    if (!future.set(std::move(value), wakes_)) return false;
    wake();
    return true;
  }
  /// The result of an instruction that has one, `in.a`.
  void put(Frame& frame, const Instruction& in, Value value) {
    if (in.is_private)
      frame.at(in.a).init(std::move(value));
    else
      put_shared(frame, in, std::move(value));
  }
  /// Inserts an element with its value. @return false: it was inserted already
  bool insert(Array& array, const Value& key, Value value) {
    if (!array.insert(key, std::move(value), wakes_)) return false;
    wake();
    return true;
  }
  /// Collects waiters to be woken: wake() is to follow.
  WakeList& wakes() { return wakes_; }
  /// Wakes them, unless a caller further out is about to.
  void wake() {
    if (!wakes_.empty()) wake_all();
  }

  // --- cells
  CellCache& cells() { return cells_; }
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    return ::new (cells_.allocate(sizeof(T))) T(std::forward<Args>(args)...);
  }
  template <typename T>
  void destroy(T* cell) {
    cell->~T();
    cells_.deallocate(cell, sizeof(T));
  }
  /// A frame with one reference, the caller's; takes a reference to `outer`.
  Frame* make_frame(BodyId body, Frame* outer, std::uint64_t stream);
  /// Gives up a reference; the last one frees the frame and goes on with its outer one. @param frame  may be null
  void release(Frame* frame) {
    if (frame && frame->drop()) free_frame(frame);
  }

  // --- tasks
  void push(Task& task, std::int32_t priority = 0) {
    ++pushed_;
    worker_.push(task, priority);
  }
  void push_last(Task& task, std::int64_t order) {
    ++pushed_;
    worker_.push_last(task, order);
  }
  void push(TaskBatch tasks) {
    pushed_ += tasks.count;
    worker_.push(tasks);
  }
  /// Tasks queued so far.
  std::uint64_t pushed() const { return pushed_; }

  // --- failures
  /// A new failure at an instruction: notes it with the calls around it.
  Value failure_at(Frame& frame, std::uint32_t instruction, std::string message, FailureNotes notes = {});
  /// @param calls  those that are no frames, innermost first
  Value failure_at(Frame& frame, Place place, std::string message, std::vector<Place> calls = {});
  Value new_failure(Frame& frame, CallPlace at, std::string message, FailureNotes notes,
                    KeptBy kept_by = KeptBy::attempts);
  /// A failure that no attempt keeps from the run, which it ends.
  void end_run_at(Frame& frame, std::uint32_t instruction, std::string message);
  /// @param calls  those that are no frames, innermost first
  CallPlace call_place(const Frame& frame, Place place, std::span<const Place> calls = {}) const;
  void assigned_twice(Frame& frame, std::uint32_t instruction, const std::string& what);
  /// Fails the array.
  void element_assigned_twice(Frame& frame, Place place, Array& array, const Value& key);
  /// The same for what Interpreter::pass_into() has not set: of all its targets only those of `struct_set` may be set
  /// already.
  /// @pre the instruction is one
  void field_assigned_twice(Frame& frame, std::uint32_t instruction);
  /// Fails the instruction, and with it the result if it has one.
  void fail(Frame& frame, const Instruction& in, std::string message);
  /// Those that were assigned before the failure keep their values.
  void fail_all(Frame& frame, const std::vector<Operand>& variables, const Value& failure);

  // --- instructions
  std::uint32_t index_of(const Instruction& in) const {
    return static_cast<std::uint32_t>(&in - program_.instructions.data());
  }
  /// The stream of what an instruction begins: the same whatever optimisation does.
  std::uint64_t stream_at(const Frame& frame, std::uint32_t instruction) const;

  /// What is on the C stack.
  struct Nesting {
    unsigned activations = 0;
    unsigned iterations = 0;  ///< of `foreach`, each with its activation
  };
  Nesting nesting;
  /// The rank whose answer has set what is woken and run now (FollowedRank); RankWish::any: none has. Strands and
  /// frames that are queued take it with them, so that what follows on a call into another language is made by the same
  /// rank.
  std::int32_t followed_rank = RankWish::any;
  /// Of a call in that frame. @param given  the call's own wish; absent: it has none
  RankWish rank_wish(Frame& frame, Operand given) const;
  RunCounters counters;

 private:
  void put_shared(Frame& frame, const Instruction& in, Value value);
  void wake_all();
  const VariableInfo* variable_of(const Frame& frame, Operand operand) const;
  void free_frame(Frame* frame);
  void end_attempt(Frame& frame);

  Run& run_;
  const Program& program_;
  Worker& worker_;
  CellCache& cells_;
  WakeList wakes_;
  bool is_waking_ = false;
  std::uint64_t pushed_ = 0;
  Writers writers_;
  std::unique_ptr<Interpreter> interpreter_;
  std::unique_ptr<KernelCaller> kernels_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<LoopRunner> loops_;
  std::unique_ptr<ProgramCaller> programs_;
  std::unique_ptr<MemoCaller> memos_;
};

/// While it lives, what is woken follows on a call that this rank has made.
class FollowedRank {
 public:
  FollowedRank(RunWorker& here, std::int32_t rank) : here_(here), before_(here.followed_rank) {
    here_.followed_rank = rank;
  }
  ~FollowedRank() { here_.followed_rank = before_; }
  FollowedRank(const FollowedRank&) = delete;
  FollowedRank& operator=(const FollowedRank&) = delete;

 private:
  RunWorker& here_;
  const std::int32_t before_;
};

/// What each service of a worker stands on.
class alignas(64) WorkerService {
 protected:
  explicit WorkerService(RunWorker& here)
      : here_(here),
        run_(here.run()),
        program_(here.program()),
        worker_(&here.worker()),
        is_perturbed_(here.worker().perturbation().is_on()) {}

  RunWorker& here_;
  Run& run_;
  const Program& program_;
  Worker* const worker_;
  const bool is_perturbed_;  ///< decisions of the schedule go either way, for tests
};

}  // namespace raddle::vm
