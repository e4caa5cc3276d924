#pragma once
// Which workers are near each other.
#include <sched.h>

#include <vector>

namespace raddle::vm {

/// NUMA domains, numbered from 0 without gaps.
struct Topology {
  std::vector<unsigned> domain_of_worker;
  std::vector<cpu_set_t> cpus_of_domain;  ///< empty if there is one domain: then nobody is bound

  /// Keeps the calling thread, which is this worker's, in its domain. @return the processors it had before
  cpu_set_t bind(unsigned worker) const;
};

/// Workers are spread over the processors that this process may use, in hwloc's order: neighbours lie in one domain.
/// There is one domain where the machine has no more, or hwloc is not installed, and for a single worker, who may be
/// one of many runs' in this process. Cost: a look into /sys; with several domains hwloc's, 10 to 20 ms.
Topology topology_of_machine(unsigned worker_count);

/// The same for a machine that is described as hwloc does: "numa:2 core:4 pu:1". For tests.
Topology topology_of_description(unsigned worker_count, const char* description);

}  // namespace raddle::vm
