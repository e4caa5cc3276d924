#pragma once
// Runs `foreach`: its iterations one by one in frames, or, as an index launch, many at a time without.
//
// Files: foreach.cpp loops are started, in place or as tasks; ranges.cpp pieces of them run, stretch by stretch;
// launches.cpp points many at a time; launch_points.cpp point by point; deferred_points.cpp points that wait;
// launch_nests.cpp loops in loops, launch_rows.cpp many of their inner loops at a time; point_tasks.cpp points that are
// tasks of their own; device_pieces.cpp points that devices compute.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/interpret/run_worker.hpp"
#include "vm/kernel/lane_machine.hpp"
#include "vm/kernel/leaf_arguments.hpp"
#include "vm/kernel/scalar_machine.hpp"
#include "vm/program/leaf_abi.hpp"
#include "vm/program/program.hpp"
#include "vm/value/chunk_reductions.hpp"
#include "vm/value/element_table.hpp"

namespace raddle::vm {

class DevicePiece;
class LaunchPoint;
class LaunchedLeaf;
class LentRange;
class PointGroup;
class PointTask;
class PointTasks;
class RangeTask;
struct DeviceBatch;
struct ElementOrder;
struct KernelArgument;
struct KnownPart;
struct LoopProfile;
struct NestEnds;
struct PartKeys;
struct PointLaunch;
struct PointResults;
struct RowKeys;
struct ValuesAhead;

class Launcher : WorkerService {
 public:
  explicit Launcher(RunWorker& here);

  /// @return false if the instruction failed
  bool foreach (Frame& frame, const Instruction& in);

  // --- entered from tasks and waiters
  /// Begins a loop, in place or as a task, or has it wait for what it needs. @param is_forced  it is not to wait
  void start_range(RangeTask& range, bool is_forced = false);
  void run_range(RangeTask* task);
  void run_lent(LentRange* lent);
  /// Looks for the elements that the point may still lack; queues it if all are there.
  void await_elements(LaunchPoint& point);
  void run_deferred_point(LaunchPoint* point);
  void forget_point(LaunchPoint* point);
  /// And those that follow it in this worker's queue.
  void run_point_tasks(const PointTask& first);
  /// Devices have done with it.
  void end_piece(DevicePiece* piece);

 private:
  // --- foreach.cpp
  bool can_gather(const RangeTask& range);
  void begin_range(RangeTask& range);
  bool needs_code(const ForeachSite& site) const;
  bool fills_long_row(const RangeTask& range);
  bool is_short(const RangeTask& range);
  void run_in_place(RangeTask& range);
  bool lends(const RangeTask& range);
  LentRange* lend_upper_half(RangeTask& range);
  void run_own_part(RangeTask& range);

  // --- ranges.cpp
  LoopProfile& profile_of(const RangeTask& range);
  bool keeps_to_one(const RangeTask& task);
  std::int64_t sure_count(const RangeTask& range);
  static std::int64_t whole_chunks(const RangeTask& task, std::int64_t first, std::int64_t count);
  std::int64_t stretch_of(const RangeTask& task);
  bool has_lanes(const ForeachSite& site) const;
  bool begins_large(const RangeTask& task) const;
  void split(RangeTask& task);
  void finish_range(RangeTask* task);
  std::int64_t run_stretch(RangeTask& piece, std::int64_t first, std::int64_t count);
  struct Ran {
    std::int64_t count;
    bool waits;  ///< some of them wait for something
  };
  Ran run_iterations(RangeTask& piece, std::int64_t first, std::int64_t count);
  /// @return true if some of them wait for something
  bool interpret_iterations(RangeTask& piece, std::int64_t first, std::int64_t count);
  void pass_element(const ElementOrder& order, std::int64_t number, Frame& body);

  // --- launches.cpp
  raddle_leaf_function launched_code(FunctionId leaf, std::int64_t points);
  void count_long_points(FunctionId leaf, std::int64_t point_ns, std::int64_t left);
  bool find_sinks(Frame& frame, const ForeachSite& site, const std::int64_t* keys, const std::int64_t* values,
                  SinkArrays& arrays);
  Array* sink_row(Frame& frame, const ForeachSite& site, const LaunchSink& sink, const std::int64_t* keys,
                  const std::int64_t* values);
  /// Runs iterations of an index launch natively, from `first` on. @return how many it has run, fewer than `count` if
  /// the next one fails; none if they have to be interpreted
  std::optional<std::int64_t> run_launch(const RangeTask& piece, std::int64_t first, std::int64_t count);
  std::int64_t run_parts(const RangeTask& piece, LaunchedLeaf& leaf, const SinkArrays& arrays,
                         const std::int64_t* values, std::int64_t first, std::int64_t step, std::int64_t count);
  std::int64_t run_part(const RangeTask& piece, LaunchedLeaf& leaf, const SinkArrays& arrays,
                        const std::int64_t* values, std::int64_t first, std::int64_t step, std::int64_t count);
  static bool find_key(Frame& frame, const LaunchSink& sink, const std::int64_t* values, std::int64_t point,
                       std::int64_t& key);
  std::int64_t call_native(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count);
  bool makes_stretches(const IndexLaunch& launch) const;
  std::int64_t calls_of(const IndexLaunch& launch, std::int64_t points) const;
  std::int64_t run_lanes(LaunchedLeaf& leaf, FunctionId id, std::int64_t first, std::int64_t step, std::int64_t count,
                         std::span<void* const> results);
  std::int64_t run_one_by_one(LaunchedLeaf& leaf, std::int64_t first, std::int64_t step, std::int64_t count,
                              std::span<void* const> results);
  KernelType result_type(const IndexLaunch& launch, std::size_t result) const {
    return program_.functions[launch.leaf].leaf_results[result];
  }
  void make_chunks(const IndexLaunch& launch, const SinkArrays& arrays, std::int64_t step);
  static bool takes_numbers(const Array* array, std::int64_t step);
  void* place_of(std::size_t result, const SinkArrays& arrays, std::int64_t key);
  /// By sink how many numbers a point writes.
  static constexpr SinkKeys one_each = [] {
    SinkKeys ones{};
    ones.fill(1);
    return ones;
  }();
  std::int64_t claim_places(const SinkArrays& arrays, const SinkKeys& keys, std::int64_t count,
                            const SinkKeys& widths = one_each);
  void give_back_places(const SinkArrays& arrays, const SinkKeys& keys, std::int64_t made, std::int64_t count,
                        const SinkKeys& widths = one_each);
  static bool takes_rows(const IndexLaunch& launch, const SinkArrays& arrays, std::int64_t step);
  static std::int64_t width_of(Frame& frame, const LaunchSink& sink);
  static void use_captures(Frame& frame, const std::vector<LaunchInput>& captures, std::int64_t points);
  static std::int64_t most_at_once();
  static bool exceed_cache(std::span<Array* const> arrays);
  static std::int64_t to_boundary(std::int64_t key, std::int64_t step);
  void finish_parts(const SinkArrays& arrays);
  void write_part(const RangeTask& piece, std::size_t result, Array* to, std::int64_t first, std::int64_t step,
                  std::int64_t count);

  void write_element(Frame& frame, const LaunchSink& sink, Array& array, KnownPart& part, std::int64_t key,
                     Value number);

  // --- launch_inputs.cpp
  Future* awaited_input(RangeTask& range, bool is_forced);
  std::optional<NestEnds> nest_ends(const RangeTask& range);
  void promise(const RangeTask& range, std::size_t sink, Array& array, bool is_possible);
  bool can_promise(const RangeTask& range, std::size_t sink) const;

  // --- device_pieces.cpp; with Run::devices only
  bool may_go(const RangeTask& range);
  bool goes_whole(const RangeTask& range);
  bool hand_over(RangeTask& task);
  bool hand_over_whole(RangeTask& task, std::int64_t limit);
  bool split_off(RangeTask& task, std::int64_t count);
  bool submit(const RangeTask& range, std::int64_t count);
  bool claim_piece(PointLaunch& points, DevicePiece& piece);
  bool find_strides(PointLaunch& points, DevicePiece& piece);
  static SinkKeys keys_of_row(const DevicePiece& piece, std::int64_t row);
  void claim_rows(DevicePiece& piece);
  void give_back_rows(const DevicePiece& piece, std::int64_t made, std::int64_t claimed);
  bool fill_batch(PointLaunch& points, DevicePiece& piece, DeviceBatch& batch);
  static std::int64_t word_of_nest(const DevicePiece& piece, const KernelArgument& argument);
  void write_results(DevicePiece& piece, std::int64_t made);

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
  bool start_keys(PointLaunch& points, std::int64_t low, std::int64_t count, std::int64_t* keys);
  bool find_rows(PointLaunch& points, const std::int64_t* keys);
  bool compute_point(Frame& frame, const IndexLaunch& launch, std::int64_t point, const std::int64_t* keys,
                     const SinkArrays& arrays, LaunchedLeaf& computation);
  bool call_launched(LaunchedLeaf& leaf, std::int64_t point, std::int64_t* results);
  void count_point(const LaunchedLeaf& computation);
  void update(Frame& frame, const LaunchSink& sink, const Value& value);

  // --- launch_blocks.cpp
  std::int64_t run_block(PointLaunch& points, std::int64_t low, std::int64_t count);
  std::int64_t run_apart(PointLaunch& points, std::int64_t low, std::int64_t count, const PartKeys& part);
  std::int64_t run_steady(PointLaunch& points, std::int64_t low, std::int64_t count, const PartKeys& part);
  Array* row_of_read(PointLaunch& points, std::size_t read, const std::int64_t* keys);
  std::int64_t find_lasting(PointLaunch& points, std::size_t read, const std::int64_t* keys, std::int64_t count);
  std::int64_t find_stream(PointLaunch& points, std::size_t read, const std::int64_t* keys, std::int64_t count);

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
  // --- launch_rows.cpp
  void open_rows(PointLaunch& points);
  std::int64_t run_rows(PointLaunch& points, std::int64_t end, ValuesAhead& ahead);
  std::int64_t run_rows_together(PointLaunch& points, const RowKeys& keys, std::int64_t count);
  std::int64_t run_rows_apart(PointLaunch& points, const RowKeys& keys, std::int64_t count);
  std::int64_t call_by_rows(PointLaunch& points, const RowKeys& keys, std::int64_t count);
  static bool can_call_once(const PointLaunch& points, const RowKeys& keys);
  std::int64_t call_once(PointLaunch& points, const RowKeys& keys, std::int64_t count);
  void* repeated(const RowKeys& keys, std::size_t place, std::int64_t first, std::int64_t count);
  // --- launch_nests.cpp
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

  FunctionId id_of(const Function& function) const {
    return static_cast<FunctionId>(&function - program_.functions.data());
  }

  ScalarMachine& scalar_machine_;
  LaneMachine lane_machine_;
  std::vector<std::int64_t> point_keys_;  ///< that a projection has computed, a row for each
  std::vector<std::int64_t> streams_;     ///< elements that a block of points reads, a row for each read
  std::vector<std::int64_t> repeated_;    ///< likewise, of rows of which one read's elements are the same
  std::vector<std::int64_t> made_rows_;   ///< results of rows that are spread
  /// Results of the part of an index launch that is being made. Null: they go straight into the array
  std::vector<NumberChunk::Owner> launch_chunks_;
  std::vector<std::int64_t> left_keys_;             ///< of results that have to be inserted one by one
  std::vector<ChunkReductions> launch_reductions_;  ///< of the piece, for arrays that are only reduced
};

}  // namespace raddle::vm
