#pragma once
// What the queues of the super kernel cost on a GPU.
#include "tests/bench/gpu/bench_card.hpp"

namespace raddle::gpu::bench {

/// Null tasks, one task in flight, ranges, tasks of some length. @param is_small  to see that it runs
void measure_queues(const BenchCard& card, bool is_small);

}  // namespace raddle::gpu::bench
