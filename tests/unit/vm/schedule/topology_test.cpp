#include "vm/schedule/topology.hpp"

#include <doctest/doctest.h>

namespace raddle::vm {
namespace {

using Numbers = std::vector<unsigned>;

TEST_CASE("workers are spread over the domains, neighbours in one") {
  const char* machine = "numa:2 core:4 pu:1";
  CHECK(topology_of_description(8, machine).domain_of_worker == Numbers{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(topology_of_description(4, machine).domain_of_worker == Numbers{0, 0, 1, 1});
  CHECK(topology_of_description(1, machine).domain_of_worker == Numbers{0});
  const Topology crowded = topology_of_description(16, machine);
  CHECK(crowded.domain_of_worker.front() == 0);
  CHECK(crowded.domain_of_worker.back() == 1);
  CHECK(crowded.cpus_of_domain.size() == 2);
  CHECK(CPU_COUNT(&crowded.cpus_of_domain[1]) == 4);
  CHECK(CPU_ISSET(4, &crowded.cpus_of_domain[1]));
}

TEST_CASE("domains are numbered without gaps") {
  CHECK(topology_of_description(2, "numa:8 core:2 pu:1").domain_of_worker == Numbers{0, 1});
}

TEST_CASE("one domain binds nobody") {
  const Topology topology = topology_of_description(3, "numa:1 core:2 pu:1");
  CHECK(topology.domain_of_worker == Numbers{0, 0, 0});
  CHECK(topology.cpus_of_domain.empty());
  topology.bind(2);
  CHECK(topology_of_machine(3).domain_of_worker.size() == 3);
}

TEST_CASE("a worker that is bound runs in its domain") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<std::size_t>(last), &allowed)) --last;
  Topology topology;
  topology.domain_of_worker = {0, 1};
  topology.cpus_of_domain.assign(2, allowed);
  CPU_ZERO(&topology.cpus_of_domain[1]);
  CPU_SET(static_cast<std::size_t>(last), &topology.cpus_of_domain[1]);
  const cpu_set_t before = topology.bind(1);
  CHECK(sched_getcpu() == last);
  CHECK(CPU_EQUAL(&before, &allowed));
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

}  // namespace
}  // namespace raddle::vm
