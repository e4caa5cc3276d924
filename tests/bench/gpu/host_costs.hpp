#pragma once
// What devices cost the host, whatever the card: none is needed.

namespace raddle::gpu::bench {

/// A block of the arena is given back and one taken, with 10, 1,000 and 10,000 others that are taken.
void measure_arena(bool is_small);
/// A task is put into the queues of the super kernel, and its completion taken; the kernel, which is threads, does not
/// run meanwhile.
void measure_queue_ends(bool is_small);

}  // namespace raddle::gpu::bench
