#include "vm/schedule/topology.hpp"

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <unistd.h>

#include <optional>

namespace raddle::vm {

namespace {

#define RADDLE_HWLOC_FUNCTIONS(F)          \
  F(hwloc_topology_init)                   \
  F(hwloc_topology_set_flags)              \
  F(hwloc_topology_set_cache_types_filter) \
  F(hwloc_topology_set_synthetic)          \
  F(hwloc_topology_load)                   \
  F(hwloc_topology_destroy)                \
  F(hwloc_get_nbobjs_by_depth)             \
  F(hwloc_get_obj_by_depth)                \
  F(hwloc_bitmap_next)

/// The few functions of libhwloc that are needed, from the library that dlopen finds: to link it would cost every
/// start, and most machines have one domain.
struct Hwloc {
#define RADDLE_HWLOC_MEMBER(name) decltype(&::name) name = nullptr;
  RADDLE_HWLOC_FUNCTIONS(RADDLE_HWLOC_MEMBER)
#undef RADDLE_HWLOC_MEMBER
};

std::optional<Hwloc> load_hwloc() {
  void* library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::nullopt;
  Hwloc hwloc;
#define RADDLE_HWLOC_LOAD(name)                                               \
  hwloc.name = reinterpret_cast<decltype(hwloc.name)>(dlsym(library, #name)); \
  if (!hwloc.name) return std::nullopt;
  RADDLE_HWLOC_FUNCTIONS(RADDLE_HWLOC_LOAD)
#undef RADDLE_HWLOC_LOAD
  return hwloc;
}

/// The processors of each domain that has some.
std::vector<std::vector<int>> read_domains(const char* description) {
  const std::optional<Hwloc> hwloc = load_hwloc();
  hwloc_topology_t machine = nullptr;
  if (!hwloc || hwloc->hwloc_topology_init(&machine) != 0) return {};
  std::vector<std::vector<int>> domains;
  hwloc->hwloc_topology_set_cache_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
  const bool is_ready = description
                            ? hwloc->hwloc_topology_set_synthetic(machine, description) == 0
                            : hwloc->hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) == 0;
  if (is_ready && hwloc->hwloc_topology_load(machine) == 0) {
    const int count = hwloc->hwloc_get_nbobjs_by_depth(machine, HWLOC_TYPE_DEPTH_NUMANODE);
    for (int i = 0; i < count; ++i) {
      const hwloc_obj_t node =
          hwloc->hwloc_get_obj_by_depth(machine, HWLOC_TYPE_DEPTH_NUMANODE, static_cast<unsigned>(i));
      std::vector<int> cpus;
      for (int cpu = -1; (cpu = hwloc->hwloc_bitmap_next(node->cpuset, cpu)) >= 0 && cpu < CPU_SETSIZE;)
        cpus.push_back(cpu);
      if (!cpus.empty()) domains.push_back(std::move(cpus));
    }
  }
  hwloc->hwloc_topology_destroy(machine);
  return domains;
}

Topology spread(unsigned worker_count, const std::vector<std::vector<int>>& domains) {
  Topology topology;
  if (domains.size() < 2) {
    topology.domain_of_worker.assign(worker_count, 0);
    return topology;
  }
  std::vector<std::size_t> domain_of_place;
  for (std::size_t d = 0; d < domains.size(); ++d) domain_of_place.insert(domain_of_place.end(), domains[d].size(), d);
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < worker_count; ++i) {
    const std::size_t domain = domain_of_place[i * domain_of_place.size() / worker_count];
    if (domain != last) {
      last = domain;
      cpu_set_t cpus;
      CPU_ZERO(&cpus);
      for (const int cpu : domains[domain]) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
      topology.cpus_of_domain.push_back(cpus);
    }
    topology.domain_of_worker.push_back(static_cast<unsigned>(topology.cpus_of_domain.size() - 1));
  }
  return topology;
}

}  // namespace

cpu_set_t Topology::bind(unsigned worker) const {
  cpu_set_t before;
  CPU_ZERO(&before);
  pthread_getaffinity_np(pthread_self(), sizeof before, &before);
  // where the system refuses, the worker runs anywhere: slower, but right
  if (!cpus_of_domain.empty())
    pthread_setaffinity_np(pthread_self(), sizeof before, &cpus_of_domain[domain_of_worker[worker]]);
  return before;
}

Topology topology_of_machine(unsigned worker_count) {
  const bool has_several = worker_count > 1 && access("/sys/devices/system/node/node1", F_OK) == 0;
  return spread(worker_count, has_several ? read_domains(nullptr) : std::vector<std::vector<int>>{});
}

Topology topology_of_description(unsigned worker_count, const char* description) {
  return spread(worker_count, read_domains(description));
}

}  // namespace raddle::vm
