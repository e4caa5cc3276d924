#pragma once
// What devices cost the host, whatever the card: none is needed.

namespace raddle::gpu::bench {

/// A block of the arena is taken and one given back, with 10, 1,000 and 10,000 others that are taken.
void measure_arena(bool is_small);

}  // namespace raddle::gpu::bench
