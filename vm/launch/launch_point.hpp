#pragma once
// Points of a projected index launch (vm::IndexLaunch) that can not go at once.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vm/interpret/deferred_call.hpp"
#include "vm/launch/range_task.hpp"
#include "vm/value/element.hpp"

namespace raddle::vm {

/// What points hold in common that were deferred together: a reference to the frame around the loop, one writer of each
/// array that the loop writes, an open iteration of the loop's window. Freed with the last one.
///
/// `left_` counts the points, and `making` while more are being added. Whoever ends a point lowers it (acq_rel: the
/// last one sees what all others have done).
class PointGroup final : public Cell {
 public:
  /// The piece has a window.
  explicit PointGroup(const RangeTask& piece)
      : frame(piece.frame),
        site(piece.site),
        instruction(piece.instruction),
        low(piece.low),
        step(piece.step),
        inner(piece.inner),
        window(piece.window) {}
  void run(Worker&) override {}  // never queued
  /// By whoever makes it, once, with the number of points made. @return true: they have ended already
  bool made(std::int64_t points) {
    points_ = points;
    return left_.fetch_sub(making - points, std::memory_order_acq_rel) == making - points;
  }
  /// How many. By whoever has ended the last one.
  std::int64_t points() const { return points_; }
  /// @return true: the last one was among them
  bool end_points(std::int64_t count = 1) { return left_.fetch_sub(count, std::memory_order_acq_rel) == count; }
  /// The loop around a single iteration.
  RangeTask as_piece() const {
    RangeTask piece(frame, site, instruction);
    piece.low = low;
    piece.step = step;
    piece.inner = inner;
    return piece;
  }

  Frame& frame;
  const ForeachSite& site;
  const std::uint32_t instruction;
  const std::int64_t low, step;
  const InnerRange inner;
  const Ref<LoopWindow> window;

 private:
  static constexpr std::int64_t making = std::int64_t{1} << 40;
  std::atomic<std::int64_t> left_{making};
  std::int64_t points_ = 0;
};

/// Which point of a loop: the number of its iteration; in a nest that of the outer loop, and the point of the inner
/// one.
struct PointNumber {
  std::int64_t iteration = 0, inner = 0;
};

/// Waits for the elements that it reads, one after the other, then for code or for a worker. By then the arrays are in
/// no cache any more: so it keeps where its elements lie, and what was in those that it has seen. Memory: this object,
/// then a word for each read, a target for each sink, its keys.
class LaunchPoint final : public DeferredCall {
 public:
  static std::size_t size_of(const IndexLaunch& launch) {
    return sizeof(LaunchPoint) + word_count(launch) * sizeof(std::int64_t);
  }
  std::size_t size_bytes() const { return sizeof(LaunchPoint) + words_in_all_ * sizeof(std::int64_t); }
  LaunchPoint(PointGroup& group, PointNumber number)
      : frame(group.frame),
        group(group),
        number(number),
        left(static_cast<std::uint16_t>(group.site.launch.reads.size())),
        read_count(left),
        sink_count(static_cast<std::uint16_t>(group.site.launch.sinks.size())),
        words_in_all_(static_cast<std::uint16_t>(word_count(group.site.launch))) {
    std::memset(words(), 0, (std::size_t{read_count} + sink_count) * sizeof(std::int64_t));
  }
  void run(Worker& worker) override;
  void resolved(Worker& worker) override;
  DeferredCall* replacement(CellCache& cache) override;
  /// Of the reads from `left` on what they have read; of others the address of the element's future, 0: not known yet.
  std::int64_t* words() { return reinterpret_cast<std::int64_t*>(this + 1); }
  /// Elements that it writes to. null: no element, or not known
  Element** targets() { return reinterpret_cast<Element**>(words() + read_count); }
  std::int64_t* keys() { return words() + read_count + sink_count; }

  Frame& frame;       ///< that of the group; if this one is replaced, it owns a reference
  PointGroup& group;  ///< not to be used if this one is replaced
  const PointNumber number;
  std::uint16_t left;  ///< of these reads the last one is awaited
  const std::uint16_t read_count, sink_count;

 private:
  static std::size_t word_count(const IndexLaunch& launch) {
    return launch.reads.size() + launch.sinks.size() + launch.keys.size();
  }
  const std::uint16_t words_in_all_;  ///< for size_bytes(), when the group may be gone
};
static_assert(sizeof(Element*) == sizeof(std::int64_t));

}  // namespace raddle::vm
