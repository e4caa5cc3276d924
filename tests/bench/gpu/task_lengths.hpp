#pragma once
// How much of the time of all warps tasks of some length use, warps being threads of the host that sleep.

namespace raddle::gpu::bench {

/// Through the queues of the super kernel, for some numbers of warps. @param is_small  to see that it runs
void measure_task_lengths(bool is_small);

}  // namespace raddle::gpu::bench
