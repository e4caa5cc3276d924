#pragma once
// Points of an index launch, each of which is to be a task of its own.
#include <cstdint>

#include "vm/interpret/launch_point.hpp"
#include "vm/interpret/launched_leaf.hpp"

namespace raddle::vm {

/// What such points have in common. Freed with their group, by whoever ends the last one.
class PointTasks final : public Cell {
 public:
  PointTasks(PointGroup& group, const LaunchedLeaf& leaf) : group(group), leaf(leaf) {}
  void run(Worker&) override {}  // never queued

  PointGroup& group;
  const LaunchedLeaf leaf;  ///< bound; whoever calls it makes a copy
};

/// Owned by the queue it lies in, then by the worker that runs it.
class PointTask final : public Cell {
 public:
  PointTask(PointTasks& points, std::int64_t iteration) : points(points), iteration(iteration) {}
  void run(Worker& worker) override;

  PointTasks& points;
  const std::int64_t iteration;
};

}  // namespace raddle::vm
