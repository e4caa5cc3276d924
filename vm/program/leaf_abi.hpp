#pragma once
// The one stable surface of the VM: plain C. How compiled leaf functions are called.
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum raddle_leaf_status {
  raddle_leaf_ok = 0,
  raddle_leaf_division_by_zero = 1,
  raddle_leaf_integer_overflow = 2,
  raddle_leaf_index_out_of_range = 3,
  raddle_leaf_recursion_too_deep = 4,  // to be interpreted instead: frames lie on the heap
  raddle_leaf_domain_error = 5,        // sqrt(-1.0), toInt(1e30): to be interpreted for the words of the message
  raddle_leaf_assertion = 6,           // to be interpreted, likewise
  raddle_leaf_interrupted = 7,         // the run is to end
  raddle_leaf_shareable = 8,           // to be interpreted: a long loop in it is for all workers, and some have no work
};

struct raddle_leaf_worker;
/// Of the VM.
struct raddle_leaf_room;

/// A range of the script's text.
struct raddle_leaf_place {
  uint32_t file, begin, end;
};

enum { raddle_leaf_call_limit = 50 };

/// Filled by the leaf when it fails; owned by the caller, one for each call, who sets call_count to 0.
struct raddle_leaf_failure {
  struct raddle_leaf_place place;  ///< of the operation
  int64_t detail[2];               ///< index_out_of_range: index, address of the array's elements
  /// Calls inside native code that led to it, also those beyond the limit, which are not kept. Calls in tail position
  /// are jumps: they leave no trace.
  uint32_t call_count;
  struct raddle_leaf_place calls[raddle_leaf_call_limit + 1];  ///< innermost first; the last is overwritten scratch
};

/// Note [stretches]. A leaf that an index launch calls is called for many points of the launch space at once. Then the
/// arguments are: the loop variable's first value, its step, the number of points; for each result a pointer to as many
/// elements (int64_t, double, uint8_t for boolean, int32_t, float for float32); for each row, an array that each point
/// fills, two words: a pointer to that of the first point, behind which the others follow, and how many elements each
/// has; for each argument that is an element which the point reads a pointer to as many of those; the other arguments
/// but the first, the loop variable, the same for all points. results[0] is how many points were computed, from the
/// first on: fewer than asked for if the next one does not end well, or may not; elements behind them mean nothing. The
/// status is raddle_leaf_ok in any case.
///
/// Note [rows]. Where points read elements, two more words follow: how many rows of so many points are computed, one
/// after the other, and a pointer to the distances of a row from the next one, in bytes: one for each read, then one
/// for each result. All other words are those of the first row; the points of each row have the same numbers.
/// results[0] is the number of all points, but of rows behind the first one only whole ones count.
///
/// Note [past the cache]. If the number of points is given with a minus, results may go to memory past the cache: they
/// are more than it holds. Whoever called waits for such stores, by a fence, before others are told of them.
///
/// Note [ranges]. For devices, whose threads share out the points of a stretch, the arguments are the same. On entry
/// results[0] is the number of the thread, results[1] how many threads there are: it computes that point, counted from
/// the first one, the one so many points later, and so on. results[0] becomes the number of its first point that does
/// not end well, behind which it has computed none; the number of points if there is none. The failure is not filled.
///
/// @param worker     the calling thread's
/// @param arguments  8 bytes each: int64_t; double's bits; boolean 0 or 1; int32 as int64_t, float32 as double's bits;
///                   an array takes two words: pointer to its dense elements (int64_t, double, uint8_t for boolean,
///                   int32_t, float; of an empty array any address that no other argument has) and their number
/// @param results    8 bytes each, same encoding; valid if raddle_leaf_ok is returned
/// @return           enum raddle_leaf_status
/// Threads: any, any number at a time.
typedef int32_t (*raddle_leaf_function)(struct raddle_leaf_worker* worker, const int64_t* arguments, int64_t* results,
                                        struct raddle_leaf_failure* failure);

/// Note [forks]. Where a leaf calls several functions that need nothing of each other, it forks all but the first: puts
/// a record of the call, which lies on its stack, onto its worker's list. It makes the first call, then joins the
/// others one after the other: takes the record off the list and makes the call itself. That costs a few instructions
/// and nothing that other threads see. Only if some worker is idle (`idle_workers`) does the leaf, right after forking,
/// ask the VM to share: then the oldest record, which stands for the most work, becomes a task that others can take,
/// and the join of that record asks the VM for the outcome.
/// Source: Mohr, Kranz, Halstead, "Lazy Task Creation" (LFP 1990); a list of records as in chili and in Acar et al.,
/// "Heartbeat Scheduling" (PLDI 2018), but on demand instead of by the clock.
struct raddle_leaf_fork_site {
  raddle_leaf_function code;
  uint32_t argument_words;
};

/// Followed by the words of the arguments and of the results. All but the results are written by the worker that forks.
struct raddle_leaf_fork {
  struct raddle_leaf_fork* older;
  struct raddle_leaf_fork* newer;  ///< means something in records that are not the newest
  const struct raddle_leaf_fork_site* site;
  void* task;  ///< the VM's; null: not shared
};

/// Note [reduced stretches]. Many numbers that come to one are computed in stretches by another function, and reduced
/// by the VM as it reduces arrays. One of these for each place of a script where that is done.
struct raddle_leaf_reduction {
  raddle_leaf_function points;  ///< of a launch with one result: Note [stretches]
  uint8_t reducer;              ///< KernelReducer of kernel.hpp
  uint8_t is_float;             ///< what `points` gives
  uint8_t may_share;            ///< the call costs little but for its reductions: it may begin anew
};

/// A worker as its leaves see it. Only its own thread reads and writes it, but for stack_limit and what idle_workers
/// points to.
struct raddle_leaf_worker {
  /// The lowest address that the stack may reach in recursive functions. Relaxed atomic: whoever ends the run sets all
  /// bits; then recursive functions and all but short loops return soon, without a result.
  const void* stack_limit;
  /// Relaxed atomic: a hint. Not 0: call `share` after forking.
  const int32_t* idle_workers;
  struct raddle_leaf_fork* newest;  ///< never null: the last one in the list is no call
  void (*share)(struct raddle_leaf_worker* worker);
  /// Takes the newest record off the list and waits for its outcome, of which it fills in the failure, or makes the
  /// call if nobody has begun it. With a failure of null the call is not wanted any more: it is waited for only if
  /// somebody has begun it.
  int32_t (*join)(struct raddle_leaf_worker* worker, struct raddle_leaf_fork* fork,
                  struct raddle_leaf_failure* failure);
  /// What the numbers of the points 0 to count - 1 come to.
  /// @param words   arguments of `points`, but that the first four are filled here
  /// @param result  its word
  int32_t (*reduce)(struct raddle_leaf_worker* worker, const struct raddle_leaf_reduction* what, int64_t count,
                    int64_t* words, int64_t* result, struct raddle_leaf_failure* failure);
  uint64_t room_limit;             ///< bytes that take_room gives at once
  struct raddle_leaf_room* rooms;  ///< what it has given, the newest; null: nothing
  /// Memory for an array of a leaf's own that the stack has no room for, aligned to 64 bytes, until leave_rooms.
  /// @return null: there is none, or it is too much. take_room may be null, too
  void* (*take_room)(struct raddle_leaf_worker* worker, uint64_t bytes);
  /// Gives back all that is newer than `until`: each leaf does so before it returns.
  void (*leave_rooms)(struct raddle_leaf_worker* worker, struct raddle_leaf_room* until);
};

#ifdef __cplusplus
}
#endif
