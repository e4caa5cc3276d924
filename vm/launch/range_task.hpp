#pragma once
// A piece of a `foreach`: the iterations that nobody has begun yet.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "vm/interpret/deferred_call.hpp"
#include "vm/interpret/frame.hpp"
#include "vm/interpret/loop_window.hpp"
#include "vm/program/leaf_abi.hpp"

namespace raddle::vm {

inline constexpr std::int64_t stretch_ns = 50'000;  ///< that iterations which are run together take, about

/// What a `foreach` over an array or a bag walks along: shared by all pieces, never changed.
struct ElementOrder {
  Value container;
  bool is_dense = false;          ///< array of numbers with keys 0..n-1, in order
  std::vector<Value> keys;        ///< other arrays
  std::vector<Future*> elements;  ///< bags
};

/// The part of a nest's inner loop that a piece of the outer one runs, in each of its iterations.
struct InnerRange {
  std::int64_t first = 0, end = 0;  ///< points, counted from 0, half open
  std::int64_t count = 0;           ///< points of the whole inner loop; 0: the loop is run as one without a nest
  std::int64_t low = 0, step = 1;
  bool is_whole() const { return end - first == count; }
};

/// Where a nest begins and ends: what the prelude computes for its first and its last iteration, the inner loop's
/// range.
struct NestEnds {
  std::array<std::int64_t, leaf_word_limit> first, last;
  std::int64_t low, high;
};

/// Owned by the deque it lies in, by the worker that runs it, or by its window. Owns a reference to the frame around
/// the loop, and stands for one writer of each array that the loop writes.
///
/// Note [Ranges]. Loops are expanded depth first and in order, at most a stretch ahead. A worker takes a stretch off
/// the front. If the iterations queue tasks or are long, it pushes the rest back onto its deque *before* it runs the
/// stretch, and returns to its deque afterwards: what the iterations have queued lies above the rest and runs first;
/// thieves take the rest of the outermost loop. If they are short, it runs the stretch (50 us at most) and then pushes
/// the rest: so nobody runs ahead of iterations that others need. Points that take less than it takes to hand them
/// over, and have waited for others of their loop, stay on one worker for a while, in stretches of up to 0.5 ms. Idle
/// workers make a loop split in halves. A loop that is so short that it is run where it stands is lent instead: its
/// upper half is queued, and taken back if nobody came for it while the lower one was run. Where iterations wait for
/// something that is not there yet, often what earlier ones compute, a window bounds how many (LoopWindow), and the
/// loop is not split for a while.
///
/// A launch for whose results much memory is to be taken (half a MiB or more) is begun last: when nobody has anything
/// left of what has begun, and of several the one that was issued first. Else each worker would begin a launch
/// of its own, the youngest, while the rest of an old one lies in somebody's deque: all that has been computed since is
/// kept by what waits for that rest, and what is computed next goes to new pages, which the system clears. The memory
/// is taken by the first stretch, so that launches that wait take none.
///
/// A nest of index launches is split across its inner loop where its points need each other: each worker keeps to its
/// own part of every iteration of the outer loop, and only neighbours wait for each other. What a neighbour is just
/// computing is waited for on the spot for some microseconds (Patience). If it does not come the point is deferred, and
/// the piece is kept by its window until what it has deferred has been computed: else it would run ahead, and defer
/// all. If points wait for later iterations, which the run finds out when nothing else is left to do, it does not stop
/// again. Rows that the points write to are made ahead, by all parts at the same time.
class RangeTask final : public Cell {
 public:
  enum class Kind : std::uint8_t { ints, floats, elements };

  RangeTask(Frame& frame, const ForeachSite& site, std::uint32_t instruction)
      : frame(frame), site(site), instruction(instruction) {}
  RangeTask(const RangeTask& other) : RangeTask(other, other.site) {}
  /// The same loop, run as another site of it says.
  RangeTask(const RangeTask& other, const ForeachSite& site)
      : Cell(),
        frame(other.frame),
        site(site),
        instruction(other.instruction),
        kind(other.kind),
        next_iteration(other.next_iteration),
        end(other.end),
        low(other.low),
        step(other.step),
        float_low(other.float_low),
        float_step(other.float_step),
        order(other.order),
        inner(other.inner),
        has_promised(other.has_promised),
        issued_ns(other.issued_ns),
        is_new(other.is_new),
        stays(other.stays) {}
  void run(Worker& worker) override;

  Frame& frame;
  const ForeachSite& site;
  const std::uint32_t instruction;
  Kind kind = Kind::ints;
  std::int64_t next_iteration = 0, end = 0;  ///< counted from 0, half open
  std::int64_t low = 0, step = 1;
  double float_low = 0, float_step = 1;
  std::shared_ptr<const ElementOrder> order;
  InnerRange inner;
  bool has_promised = false;   ///< what it writes, if it could: see Launcher::awaited_input
  std::int64_t issued_ns = 0;  ///< when the loop was first to wait or to be queued
  bool is_new = true;          ///< no worker has taken it out of a queue to run it
  bool stays = false;          ///< devices have left it to the workers
  std::int64_t rows_made = 0;  ///< of a part of a nest: its share of the rows before this one
  bool has_stopped = false;    ///< of a part of a nest: its last stretch ended early, as a neighbour did not come
  Ref<LoopWindow> window;      ///< null: no iteration has waited. Of the rest of a piece, too
  std::int64_t stretch = 0;    ///< iterations of the last one
};

/// A launch that reads an array which another one fills: begins when that is closed. Or one that gives no result
/// without a variable which is not set. Owns a reference to the frame.
class LaunchWait final : public DeferredCall {
 public:
  explicit LaunchWait(const RangeTask& range) : range(range) {}
  void resolved(Worker& worker) override;
  bool yields_to_older() const override { return true; }
  void run(Worker& worker) override;
  DeferredCall* replacement(CellCache& cache) override;

  RangeTask range;
};

/// The upper half of a loop that is run where it stands. Owned by two: the queue, or whoever takes it from there, and
/// the worker that has lent it, so that its address means nothing else until that one has asked for it again.
class LentRange final : public Cell {
 public:
  explicit LentRange(const RangeTask& range) : range(range) { this->range.stretch = range.end; }
  void run(Worker& worker) override;
  /// @return true: the other one has given it up already
  bool give_up() { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  RangeTask range;

 private:
  std::atomic<int> owners_{2};
};

}  // namespace raddle::vm
