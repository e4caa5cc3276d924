#pragma once
// Runs strands. One interpreter for each worker; only that worker's thread calls it.
//
// Files: interpreter.cpp the instruction loop; activation.cpp frames, awaiting, waking; containers.cpp arrays, bags,
// structures, files; calls.cpp functions and builtins; leaf_calls.cpp, launches.cpp, launch_points.cpp,
// deferred_points.cpp native code; foreach.cpp, loops.cpp; apps.cpp external programs; foreign_calls.cpp libraries and
// Tcl; memo.cpp results that are kept on disk; failing.cpp errors and what depends on them.
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vm/kernel/lane_machine.hpp"
#include "vm/memory/cell_store.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/interpret/leaf_arguments.hpp"
#include "vm/kernel/scalar_machine.hpp"
#include "vm/interpret/run.hpp"
#include "vm/calls/written_files.hpp"
#include "vm/program/leaf_abi.hpp"
#include "vm/program/program.hpp"
#include "vm/value/chunk_reductions.hpp"
#include "vm/value/element_table.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

class LaunchPoint;
class PointTask;
class PointTasks;
struct PointResults;
struct PointNumber;
class PointGroup;
struct PointLaunch;
struct ValuesAhead;
class LaunchedLeaf;
class LeafCall;
class LentRange;
class RangeTask;
struct ElementOrder;
struct LoopProfile;
class BuiltinReturn;
class BuiltinTask;
class CallRecord;
class MemoWait;
class ProgramRun;
class TaskTrace;
struct NamedFile;
struct PointKey;

/// How deeply a value is there.
enum class Depth : std::uint8_t { unset, set, failed };

class Interpreter {
 public:
  Interpreter(Run& run, CellCache& cache);

  /// Binds it to its worker; called by everything that a worker enters through.
  Interpreter& on(Worker& worker) {
    worker_ = &worker;
    return *this;
  }

  // --- entered from tasks and waiters
  /// Runs the frame's body and what follows it (further iterations of a loop); gives up a reference to it.
  void activate(Frame* frame);
  /// The same, noted in the function's CallProfile if the frame is a call.
  void activate_timed(Frame* frame);
  /// All inputs of an armed strand are there. Gives up its reference to the frame.
  void run_woken(StrandState& state);
  /// Looks at the strand's inputs from state.next on; queues the strand if all are there.
  void resume_awaiting(StrandState& state);
  void run_range(RangeTask* task);
  void run_lent(LentRange* lent);
  void run_leaf_call(LeafCall* call);
  bool waits_for_code_of(const Function& leaf) const;
  /// Looks for the elements that the point may still lack; queues it if all are there.
  void await_elements(LaunchPoint& point);
  void run_deferred_point(LaunchPoint* point);
  /// And those that follow it in this worker's queue.
  void run_point_tasks(const PointTask& first);
  void forget_point(LaunchPoint* point);
  void finish_program(ProgramRun* finished);
  void finish_builtin(BuiltinReturn* ended);
  void run_builtin(BuiltinTask* task);
  void look_again(MemoWait* waited);

  // --- futures
  /// Assigns, waking whoever waits. A second assignment fails at `instruction` of `frame`.
  void set(Future& future, Value value, Frame& frame, std::uint32_t instruction, Operand variable);
  /// The same for futures that are no variables. @return false: it was assigned already
  bool set(Future& future, Value value);
  /// Inserts an element with its value. @return false: it was inserted already
  bool insert(Array& array, const Value& key, Value value);
  /// Wakes the waiters collected in wakes(), unless a caller further out is about to.
  void wake();
  WakeList& wakes() { return wakes_; }
  /// Makes `target` (of `target_frame`, not yet shared) the value of `source`, now or when it is there.
  void pass(Future& source, Frame& source_frame, Future& target, Frame& target_frame);
  /// Makes `target`, a variable of `target_frame` that others may know, the value of `source` when it is there; a
  /// failure of the run at `instruction` if it has been assigned by then.
  void pass_later(Future& source, Frame& source_frame, Frame& target_frame, Operand target, std::uint32_t instruction);
  /// Makes `target`, an element or field of `container`, the value of `source`, now or when it is there; a failure of
  /// the run if it is a field that has been assigned by then.
  void pass_into(Future& source, Frame& source_frame, Future& target, const Value& container,
                 std::uint32_t instruction);

  // --- failures
  /// A new failure at an instruction: notes it with the calls around it.
  Value failure_at(Frame& frame, std::uint32_t instruction, std::string message, FailureNotes notes = {});
  /// @param calls  those that are no frames, innermost first
  Value failure_at(Frame& frame, Place place, std::string message, std::vector<Place> calls = {});
  Value new_failure(const Frame& frame, CallPlace at, std::string message, FailureNotes notes);
  /// @param calls  those that are no frames, innermost first
  CallPlace call_place(const Frame& frame, Place place, std::vector<Place> calls = {}) const;
  void assigned_twice(Frame& frame, std::uint32_t instruction, const std::string& what);
  /// The same for what pass_into() has not set: of all its targets only those of `struct_set` may be set already.
  /// @pre the instruction is one
  void field_assigned_twice(Frame& frame, std::uint32_t instruction);
  Value missing_element(Frame& frame, std::uint32_t instruction, const Array& array, const Value& key);

  // --- cells
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    return ::new (cache_.allocate(sizeof(T))) T(std::forward<Args>(args)...);
  }
  template <typename T>
  void destroy(T* cell) {
    cell->~T();
    cache_.deallocate(cell, sizeof(T));
  }
  /// A frame with one reference, the caller's; takes a reference to `outer`.
  Frame* make_frame(BodyId body, Frame* outer, std::uint64_t stream);
  /// Gives up a reference; the last one frees the frame and goes on with its outer one.
  void release(Frame* frame);
  void push(Task& task, std::int32_t priority = 0) {
    ++pushed_;
    worker_->push(task, priority);
  }
  void push(TaskBatch tasks) {
    pushed_ += tasks.count;
    worker_->push(tasks);
  }

  /// Begins a loop, in place or as a task, or has it wait for an array that another launch fills.
  void start_range(RangeTask& range);

  Run& run() { return run_; }
  Worker& worker() { return *worker_; }
  RunCounters counters;

 private:
  static constexpr unsigned nesting_limit = 512;             ///< activations on the C stack; further calls are queued
  static constexpr std::int64_t share_interval_ns = 50'000;  ///< of short calls
  /// Of calls that are made in place one of so many is timed: the clock takes as long as a call.
  static constexpr std::uint32_t calls_to_time = 16;
  /// Long calls are made in place when so many tasks wait: each keeps its caller's frame.
  static constexpr std::int64_t most_waiting_calls = 64;
  /// Stack that is left to an activation for its own blocks in blocks, which look at no limit: some 270 bytes each.
  static constexpr std::size_t nesting_reserve_bytes = std::size_t{384} * 1024;

  // --- activation.cpp
  /// Another activation may run on the C stack; else it is to be queued.
  bool may_nest() const;

  // --- interpreter.cpp
  Frame* run_region(Frame& frame, RegionId region);
  Frame* run_strand(Frame& frame, const Strand& strand);
  bool queue_instead(Frame& frame, const Strand& strand);
  void put(Frame& frame, const Instruction& in, Value value) {
    if (in.is_private)
      frame.at(in.a).init(std::move(value));
    else
      put_shared(frame, in, std::move(value));
  }
  void put_shared(Frame& frame, const Instruction& in, Value value);
  std::uint32_t index_of(const Instruction& in) const {
    return static_cast<std::uint32_t>(&in - program_.instructions.data());
  }

  FunctionId id_of(const Function& function) const {
    return static_cast<FunctionId>(&function - program_.functions.data());
  }
  BodyId body_of(const Frame& frame) const { return static_cast<BodyId>(&frame.body - program_.bodies.data()); }
  /// What identifies an instruction in streams of random numbers: its place in the script, whatever optimisation does.
  std::uint64_t position_of(std::uint32_t instruction) const {
    const Place place = program_.places[instruction];
    return place.end != 0 ? static_cast<std::uint64_t>(place.file) << 32 | place.begin : instruction;
  }

  // --- activation.cpp
  /// @return false: armed. `state` is null while the strand is looked at for the first time
  bool await_inputs(Frame& frame, const Strand& strand, StrandState* state);
  StrandState* arm(Frame& frame, const Strand& strand);
  void enter_arm(Frame& frame, const Arm& arm);
  void add_writers(Frame& frame, const std::vector<WriterShare>& shares);
  void release_writer(Frame& frame, Operand array);
  void drop_writers(Frame& frame, const std::vector<Operand>& arrays);
  void add_writers(Future& array, std::uint32_t count);
  void release_writers(Future& array, std::uint32_t count);
  std::size_t open_writers(const RangeTask& piece, std::int64_t count);
  void close_writers(std::size_t outer);

  // --- containers.cpp; these return false if the instruction failed
  bool array_get(Frame& frame, const Instruction& in);
  bool array_insert(Frame& frame, const Instruction& in);
  bool array_row(Frame& frame, const Instruction& in);
  bool bag_row(Frame& frame, const Instruction& in);
  void array_new(Frame& frame, const Instruction& in);
  void array_list(Frame& frame, const Instruction& in);
  bool array_map(Frame& frame, const Instruction& in);
  bool array_range(Frame& frame, const Instruction& in);
  void bag_append(Frame& frame, const Instruction& in);
  void struct_make(Frame& frame, const Instruction& in);
  void struct_get(Frame& frame, const Instruction& in);
  bool struct_set(Frame& frame, const Instruction& in);

  // --- files.cpp
  struct FileUse {
    std::vector<File*> outputs;  ///< that are mapped
    std::vector<Value> inputs;   ///< if there are such outputs
  };
  FileUse file_use(Frame& frame, const Instruction& in);
  Value begin_outputs(Frame& frame, const Instruction& in, WrittenFiles::How how, std::vector<std::string>& begun);
  Value begin_writing(Frame& frame, std::uint32_t instruction, const std::vector<WrittenFiles::Output>& outputs,
                      WrittenFiles::How how, std::vector<std::string>& begun);
  void give_up_outputs(Frame& frame, const Instruction& in, const std::vector<std::string>& begun);
  /// Before a call that has written its files when it returns.
  Value begin_outputs_at_once(Frame& frame, const Instruction& in) {
    std::vector<std::string> begun;
    return begin_outputs(frame, in, WrittenFiles::How::at_once, begun);
  }
  Value fill_file(Frame& frame, const Instruction& in, File& target, File& from);
  bool file_new(Frame& frame, const Instruction& in);
  bool file_assign(Frame& frame, const Instruction& in);

  // --- calls.cpp, leaf_calls.cpp, apps.cpp
  void call(Frame& frame, const Instruction& in);
  void call_by_priority(Frame& frame, const CallSite& site, std::uint32_t instruction);
  void call_composite(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only);
  enum class CallWay : std::uint8_t { queued, timed, in_place };
  CallWay way_of_call(FunctionId function);
  bool is_due_to_share();
  static Frame& frame_around(Frame& frame, const CallSite& site);
  Frame* enter_function(Frame& frame, const CallSite& site, std::uint32_t instruction, bool interpret_only);
  /// Open calls take too much memory: reports which function has most of them and ends the run.
  void end_for_memory(Frame& frame, std::uint32_t instruction);
  bool call_builtin(Frame& frame, const Instruction& in);
  bool call_builtin_now(Frame& frame, const Instruction& in);
  void set_results(Frame& frame, const Instruction& in, std::vector<Value>& results);
  bool call_leaf(Frame& frame, const CallSite& site, std::uint32_t instruction);
  void count_calls(FunctionId leaf, std::uint32_t count);
  bool queue_leaf(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t priority);
  bool call_in_registers(Frame& frame, const CallSite& site, std::uint32_t instruction);
  /// @return false if the call has to be interpreted
  bool call_native(Frame& frame, const CallSite& site, std::uint32_t instruction, raddle_leaf_function code);
  void set_leaf_results(Frame& frame, const CallSite& site, std::uint32_t instruction, const std::int64_t* words);
  void trace_leaf(TaskTrace& trace, std::int64_t start_ns, const Function& function, std::uint32_t instruction) const;
  void fail_native(Frame& frame, const CallSite& site, std::uint32_t instruction, std::int32_t status,
                   const raddle_leaf_failure& failure);
  /// In a call that is kept, and for who listens.
  void note_read(const Frame& frame, const NamedFile& file);
  void note_reads(Frame& frame, const BuiltinSite& site);
  void note_found(const Frame& frame, const Value& files);
  void note_words(const Frame& frame, const std::vector<std::string>& words);
  void note_words(Frame& frame, const AppSite& site, const std::vector<std::string>& words);
  bool run_app(Frame& frame, const Instruction& in);
  std::string prepare(ProgramRun& program);
  void start_program(ProgramRun& program);
  void set_app_outputs(const ProgramRun& program);
  bool run_foreign(Frame& frame, const Instruction& in);
  bool call_foreign(Frame& frame, const CallSite& site, std::uint32_t instruction);
  void fail_program(Frame& frame, const AppSite& site, const Value& failure);

  // --- memo.cpp
  void memo(Frame& frame, const Instruction& in);
  bool take_results(Frame& frame, const Instruction& in, CallRecord& record, const std::string& results);
  /// @param key  "": nothing will be kept
  void enter_miss(Frame& frame, const Instruction& in, std::string key);
  void memo_keep(Frame& frame, const Instruction& in);
  void fail_memo(Frame& frame, const Instruction& in, const Value& failure);
  void tell_of_failed_memo(const Frame& frame, std::uint32_t instruction, const std::string& fault);
  void end_memo(const PointKey& key);

  // --- launches.cpp
  raddle_leaf_function launched_code(FunctionId leaf, std::int64_t points);
  bool find_sinks(Frame& frame, const ForeachSite& site, const std::int64_t* keys, const std::int64_t* values,
                  SinkArrays& arrays);
  Array* sink_row(Frame& frame, const ForeachSite& site, const LaunchSink& sink, const std::int64_t* keys,
                  const std::int64_t* values);
  /// Runs iterations of an index launch natively, from `first` on. @return how many it has run, fewer than `count` if
  /// the next one fails; none if they have to be interpreted
  std::optional<std::int64_t> run_launch(const RangeTask& piece, std::int64_t first, std::int64_t count);
  std::int64_t run_part(const RangeTask& piece, LaunchedLeaf& leaf, const SinkArrays& arrays, std::int64_t first,
                        std::int64_t step, std::int64_t count);
  std::int64_t call_native(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count);
  bool makes_batches(const IndexLaunch& launch) const;
  std::int64_t calls_of(const IndexLaunch& launch, std::int64_t points) const;
  std::int64_t run_lanes(LaunchedLeaf& leaf, FunctionId id, std::int64_t first, std::int64_t step, std::int64_t count,
                         std::span<void* const> results);
  std::int64_t run_one_by_one(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count,
                              std::span<void* const> results);
  void make_chunks(const IndexLaunch& launch, const SinkArrays& arrays);
  Future* promise_results(const RangeTask& range);
  void finish_parts(const SinkArrays& arrays);
  void write_part(const RangeTask& piece, std::size_t result, Array* to, std::int64_t first, std::int64_t step,
                  std::int64_t count);

  void element_assigned_twice(Frame& frame, const LaunchSink& sink, Array& array, const Value& key);

  // --- launch_points.cpp
  /// The same point by point, by machine code or in registers. @param waits  set if some wait for elements
  std::optional<std::int64_t> run_points(RangeTask& piece, std::int64_t first, std::int64_t count, bool& waits);
  std::int64_t run_points(PointLaunch& points, std::int64_t first, std::int64_t count);
  std::int64_t compute_ahead(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count,
                             std::int64_t* rows);
  bool bind(PointLaunch& points, std::int64_t count);
  void finish(PointLaunch& points);
  bool run_point(PointLaunch& points, std::int64_t point, const std::int64_t* keys);
  bool run_present_point(PointLaunch& points, std::int64_t value, const std::int64_t* keys);
  void write_element(PointLaunch& points, std::size_t sink, std::int64_t key, Value number);
  bool find_rows(PointLaunch& points, const std::int64_t* keys);
  bool compute_point(Frame& frame, const IndexLaunch& launch, std::int64_t point, const std::int64_t* keys,
                     const SinkArrays& arrays, LaunchedLeaf& computation);
  bool call_launched(LaunchedLeaf& leaf, std::int64_t point, std::int64_t* results);
  void count_point(const LaunchedLeaf& computation);
  void update(Frame& frame, const LaunchSink& sink, const Value& value);

  // --- deferred_points.cpp
  void defer_point(PointLaunch& points, std::int64_t point, const std::int64_t* keys);
  PointGroup* make_group(RangeTask& piece);
  void end_group(PointGroup* group);
  bool computes_deferred(LaunchPoint& point);
  void write_deferred(LaunchPoint& point, const Function& leaf, std::int64_t value, const std::int64_t* values,
                      const std::int64_t* results);

  // --- launch_nests.cpp
  /// Has the loops inside run here, if nothing stands in the way.
  void open_nest(RangeTask& range);
  /// Runs iterations of a nest's outer loop, each with the piece's part of the inner one. @param waits  set if some
  /// points wait for elements  @param count  changed to those that it has run, if it has stopped
  /// (RangeTask::has_stopped)
  /// @return false, and does nothing: they have to be interpreted
  bool run_nest(RangeTask& piece, std::int64_t first, std::int64_t& count, bool& waits);
  void make_rows(PointLaunch& points);
  bool find_values(PointLaunch& points, std::int64_t iteration, std::int64_t end, ValuesAhead& ahead,
                   std::int64_t* values);
  void run_nest_iteration(PointLaunch& points, bool is_possible);
  std::int64_t run_inner(PointLaunch& points, std::int64_t first, std::int64_t count);
  bool run_prelude(Frame& frame, const ForeachSite& site, std::int64_t value, std::int64_t* values);
  bool interpret_inner(RangeTask& piece, std::int64_t iteration, std::int64_t first, std::int64_t count);
  bool splits_inner(const RangeTask& task);
  void split_inner(RangeTask& task);
  void share_inner(const RangeTask& piece, std::int64_t iteration, std::int64_t first, std::int64_t end);

  // --- point_tasks.cpp
  /// Each point is to be a task.
  bool forces_points(const RangeTask& piece) const;
  /// @return false, and does nothing: they are to be run otherwise
  bool queue_points(RangeTask& piece, std::int64_t first, std::int64_t count);
  void end_points(PointTasks& points);
  bool run_point_task(const PointTask& task, LaunchedLeaf& leaf, PointResults& results);
  void write(PointResults& results);

  // --- foreach.cpp, loops.cpp
  bool foreach (Frame& frame, const Instruction& in);
  void pass_element(const ElementOrder& order, std::int64_t number, Frame& body);
  LoopProfile& profile_of(const RangeTask& range);
  bool is_short(const RangeTask& range);
  void run_in_place(RangeTask& range);
  bool lends(const RangeTask& range);
  LentRange* lend_upper_half(RangeTask& range);
  void run_own_part(RangeTask& range);
  bool keeps_to_one(const RangeTask& task);
  std::int64_t batch_of(const RangeTask& task);
  void split(RangeTask& task);
  void finish_range(RangeTask* task);
  std::int64_t run_batch(RangeTask& piece, std::int64_t first, std::int64_t count);
  struct Ran {
    std::int64_t count;
    bool waits;  ///< some of them wait for something
  };
  Ran run_iterations(RangeTask& piece, std::int64_t first, std::int64_t count);
  bool interpret_iterations(RangeTask& piece, std::int64_t first, std::int64_t count);
  void start_loop(Frame& frame, const Instruction& in);
  Frame* loop_test(Frame& frame, const Instruction& in);
  void end_loop(Frame& frame, const LoopSite& site, std::uint32_t instruction);
  Frame* next_iteration(Frame& frame, const LoopSite& site);

  // --- failing.cpp
  void fail(Frame& frame, const Instruction& in, std::string message);
  /// In a frame where something has failed: @return true if an operand has, and the results have been failed with it
  bool fails_with_operand(Frame& frame, const Strand& strand, const Instruction& in);
  void fail_results(Frame& frame, const Instruction& in, const Value& failure);
  void fail_all(Frame& frame, const std::vector<Operand>& variables, const Value& failure);
  Value failed_operand(Frame& frame, const Strand& strand, const Instruction& in);
  Value failed_input(Frame& frame, const Strand& strand, Operand operand);
  void fail_insert(Frame& frame, const Instruction& in, const Value& failure);
  /// Releases a writer that did not write: the array or bag closes with the failure.
  void fail_writer(Frame& frame, Operand array, const Value& failure);
  void fail_writers(Frame& frame, const std::vector<Operand>& arrays, const Value& failure);

  /// Writers of an array that iterations which run here have released. Given back together when they have run: their
  /// piece holds a writer of its own until then, so that the array could not have closed before.
  struct WriterRelease {
    Future* array;
    std::uint32_t count;
  };

  Run& run_;
  const Program& program_;
  const bool is_perturbed_;  ///< Worker::perturbation() is on
  Worker* worker_ = nullptr;
  CellCache& cache_;
  ScalarMachine scalar_machine_;
  LaneMachine lane_machine_;
  WakeList wakes_;
  bool is_waking_ = false;
  unsigned nesting_ = 0;                    ///< activations on the C stack
  unsigned range_nesting_ = 0;              ///< iterations of `foreach` among them
  std::uint64_t pushed_ = 0;                ///< tasks queued by this worker so far
  std::uint64_t loop_pushed_ = 0;           ///< the same when a loop last gave way
  std::uint32_t loop_turns_ = 0;            ///< iterations of loops since then
  std::uint32_t calls_in_place_ = 0;        ///< outside of loops
  std::int64_t next_share_ns_ = 0;          ///< before then no short calls are shared
  std::vector<WriterRelease> releases_;     ///< of the iterations on the C stack
  std::size_t own_releases_ = 0;            ///< where those of the innermost ones begin
  std::vector<Value> loop_values_;          ///< of the next iteration, while its frame is made anew
  std::vector<Value> arguments_, results_;  ///< of the builtin being called
  std::vector<std::int64_t> point_keys_;    ///< of points of a launch with a projection, a row for each key
  /// Results of the part of an index launch that is being made. Null: they go straight into a promised array
  std::vector<NumberChunk::Owner> launch_chunks_;
  std::vector<ChunkReductions> launch_reductions_;  ///< of the piece, for arrays that are only reduced
};

std::string assigned_twice_text(const std::string& variable);

/// How deeply the future's value is set: looks into structures and files, with `deep` also into arrays and bags.
Depth depth_of(const Future& future, AwaitMode mode = AwaitMode::deep);

/// Mixes the position of an instruction or the number of an iteration into a stream identity.
inline std::uint64_t mix_stream(std::uint64_t stream, std::uint64_t with) {
  std::uint64_t mixed = (stream ^ (with + 0x9E3779B97F4A7C15ull)) * 0xBF58476D1CE4E5B9ull;
  return mixed ^ mixed >> 29;
}

}  // namespace raddle::vm
