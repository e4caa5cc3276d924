#pragma once
// What our own code adds to a device: simulated ones, and the driver without a GPU.
#include <string>

namespace raddle::gpu::bench {

/// Tasks through queues to threads; batches of one point and calls of AppKernels that do nothing, by a simulated device
/// and by the driver of tests, in this process and in one of its own. @param library  that driver  @param is_small  to
/// see that it runs
void measure_simulated(const std::string& library, bool is_small);
/// Calls of AppKernels that do nothing in a second, with at most so many under way: those that wait become bundles.
void measure_calls_under_way(const std::string& library, bool is_small);

}  // namespace raddle::gpu::bench
