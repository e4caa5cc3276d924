#pragma once
// Points of an index launch, each of which is to be a task of its own.
#include <cstddef>
#include <cstdint>
#include <new>

#include "vm/launch/launch_point.hpp"
#include "vm/launch/launched_leaf.hpp"

namespace raddle::vm {

class PointTasks;

/// Owned by the queue it lies in, then by the worker that runs it.
class PointTask final : public Task {
 public:
  PointTask(PointTasks& all, std::int64_t iteration) : all(all), iteration(iteration) {}
  void run(Worker& worker) override;

  PointTasks& all;
  const std::int64_t iteration;
};

/// Of points that follow each other and are not yet written: they lie in the launcher's chunks.
struct PointResults {
  RangeTask piece;  ///< the loop around them
  const SinkArrays& arrays;
  std::int64_t first = 0, count = 0;  ///< iterations
};

/// The tasks, and what they have in common. Freed with their group, by whoever ends the last one. Memory: this object,
/// then the tasks.
class PointTasks final : public Cell {
 public:
  static std::size_t size_of(std::int64_t count) {
    return sizeof(PointTasks) + static_cast<std::size_t>(count) * sizeof(PointTask);
  }
  PointTasks(PointGroup& group, const LaunchedLeaf& leaf, const SinkArrays& arrays, std::int64_t first,
             std::int64_t count)
      : group(group), leaf(leaf), arrays(arrays), count(count) {
    for (std::int64_t i = 0; i < count; ++i) ::new (tasks() + i) PointTask(*this, first + i);
  }
  void run(Worker&) override {}  // never queued
  PointTask* tasks() { return reinterpret_cast<PointTask*>(this + 1); }

  PointGroup& group;
  const LaunchedLeaf leaf;  ///< bound; whoever calls it makes a copy
  const SinkArrays arrays;
  const std::int64_t count;
};

}  // namespace raddle::vm
