#pragma once
// A piece of a `foreach`: the iterations that nobody has begun yet.
#include <cstdint>
#include <memory>
#include <vector>

#include "vm/interpret/frame.hpp"

namespace raddle::vm {

/// What a `foreach` over an array or a bag walks along: shared by all pieces, never changed.
struct ElementOrder {
  Value container;
  std::vector<Value> keys;        ///< arrays
  std::vector<Future*> elements;  ///< bags
};

/// Owned by the deque it lies in, or by the worker that runs it. Owns a reference to the frame around the loop, and
/// stands for one writer of each array that the loop writes.
///
/// Note [Ranges]. A worker takes a batch off the front, pushes the rest back onto its deque *before* it runs the batch,
/// and returns to its deque afterwards: what the iterations have queued lies above the rest and runs first. So loops
/// are expanded depth first, at most a batch ahead; thieves take the rest of the outermost loop. Batches grow while
/// they take less than 50 us, so that the cost of queueing disappears for small bodies.
class RangeTask final : public Cell {
 public:
  enum class Kind : std::uint8_t { ints, floats, elements };

  RangeTask(Frame& frame, const ForeachSite& site, std::uint32_t instruction)
      : frame(frame), site(site), instruction(instruction) {}
  RangeTask(const RangeTask& other)
      : Cell(),
        frame(other.frame),
        site(other.site),
        instruction(other.instruction),
        kind(other.kind),
        next_iteration(other.next_iteration),
        end(other.end),
        low(other.low),
        step(other.step),
        float_low(other.float_low),
        float_step(other.float_step),
        order(other.order) {}
  void run(Worker& worker) override;

  Frame& frame;
  const ForeachSite& site;
  const std::uint32_t instruction;
  Kind kind = Kind::ints;
  std::int64_t next_iteration = 0, end = 0;  ///< counted from 0, half open
  std::int64_t low = 0, step = 1;
  double float_low = 0, float_step = 1;
  std::shared_ptr<const ElementOrder> order;
  std::int64_t batch = 1;
  std::int64_t pushed_at_ns = 0;  ///< when the last batch began; 0: none has
};

}  // namespace raddle::vm
