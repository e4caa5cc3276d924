// What any policy keeps to on simulated devices, and what is known of each: the protocol of properties B1 to B7.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/bench/locality/lower_bounds.hpp"
#include "tests/bench/locality/simulation.hpp"
#include "vm/place/policy.hpp"

namespace raddle::locality {
namespace {

struct Case {
  Program program;
  unsigned tiles;
  std::int64_t memory_tiles;
  unsigned devices = 1;
};

Machine machine_of(const Case& given) {
  return {.devices = given.devices, .memory_bytes = given.memory_tiles * tile_bytes};
}

Outcome outcome_of(const TaskGraph& graph, const Machine& machine, std::string_view policy) {
  const auto outcome = simulate(graph, machine, policy);
  REQUIRE(outcome);
  return *outcome;
}

double loads_of(const Case& given, std::string_view policy, bool has_peers = false) {
  Machine machine = machine_of(given);
  if (has_peers) machine.links.between_devices = usual_peer_speed;
  const Outcome outcome = outcome_of(graph_of(given.program, given.tiles), machine, policy);
  return static_cast<double>(outcome.loads + outcome.peer_loads);
}

double bound_of(const Case& given) {
  return lower_bounds(given.program, given.tiles, given.memory_tiles, given.devices).usual;
}

/// Tiles of several sizes, tasks of up to five operands, some of them without any that is read.
TaskGraph random_graph(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned count) { return static_cast<std::uint32_t>(random() % count); };
  GraphBuilder graph;
  const unsigned data_count = 5 + below(30), task_count = 20 + below(200);
  for (unsigned i = 0; i < data_count; ++i) graph.add_data((1 + below(3)) * 1'000'000);
  for (unsigned i = 0; i < task_count; ++i) {
    std::set<vm::DataId> chosen;
    for (unsigned k = 1 + below(5); k != 0; --k) chosen.insert(below(data_count));
    std::vector<vm::DataId> operands(chosen.begin(), chosen.end()), reads, writes;
    std::ranges::shuffle(operands, random);
    for (const vm::DataId data : operands) {
      const unsigned access = below(6);  // read, mostly; 4: written only, 5: both
      if (access != 4) reads.push_back(data);
      if (access >= 4) writes.push_back(data);
    }
    graph.add_task(reads, writes, 10'000 + below(1'000'000), static_cast<std::int32_t>(below(10)));
  }
  return graph.take();
}

/// Data whose first use reads them.
std::uint64_t compulsory_loads(const TaskGraph& graph) {
  std::vector<bool> is_seen(graph.bytes.size());
  std::uint64_t count = 0;
  for (const vm::PlacedTask& task : graph.tasks)
    for (std::size_t i = 0; i < task.operands.size(); ++i) {
      if (!is_seen[task.operands[i]] && i < task.read_count) ++count;
      is_seen[task.operands[i]] = true;
    }
  return count;
}

/// Data first, then tasks: what B4 to B7 say of DARTS holds for each.
constexpr const char* data_first[] = {"darts", "darts-count", "darts-order"};

std::int64_t working_set(const TaskGraph& graph) {
  std::int64_t sum = 0;
  for (const std::int64_t bytes : graph.bytes) sum += bytes;
  return sum;
}

}  // namespace

TEST_CASE("B1: no policy takes more memory than there is, or loads less than each input once") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const TaskGraph graph = random_graph(seed);
    std::mt19937 random(seed);
    for (const vm::PolicyName& policy : vm::policy_names())
      for (const unsigned devices : {1u, 2u, 3u, 4u}) {
        Machine machine{.devices = devices, .memory_bytes = static_cast<std::int64_t>(15 + random() % 20) * 1'000'000};
        machine.has_one_bus = random() % 2 == 0;
        machine.drops_dead_data = random() % 2 == 0;
        machine.buffered_tasks = static_cast<unsigned>(1 + random() % 8);
        if (random() % 2 == 0) machine.links.between_devices = usual_peer_speed;
        CAPTURE(seed);
        CAPTURE(policy.name);
        CAPTURE(devices);
        const Outcome outcome = outcome_of(graph, machine, policy.name);
        CHECK(outcome.loads + outcome.peer_loads >= compulsory_loads(graph));
        CHECK(outcome.most_bytes <= machine.memory_bytes);
        CHECK(outcome.makespan_ns * devices >= graph.work_ns());
      }
  }
}

TEST_CASE("B1: no policy is below the bound that is proved") {
  for (const Case& given : {Case{Program::cholesky, 30, 40}, Case{Program::lu, 20, 40}, Case{Program::product, 30, 20},
                            Case{Program::product_of_inputs, 60, 30}, Case{Program::product_of_tiles, 12, 30}}) {
    const double proved = lower_bounds(given.program, given.tiles, given.memory_tiles, 1).proved;
    for (const vm::PolicyName& policy : vm::policy_names()) CHECK(loads_of(given, policy.name) >= proved);
  }
}

TEST_CASE("B2: where everything fits, each input is loaded once and nothing is written back") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const TaskGraph graph = random_graph(seed);
    for (const vm::PolicyName& policy : vm::policy_names()) {
      const Outcome outcome = outcome_of(graph, {.memory_bytes = working_set(graph)}, policy.name);
      CHECK(outcome.loads == compulsory_loads(graph));
      CHECK(outcome.write_backs == 0);
      CHECK(outcome.evictions == 0);
    }
  }
  for (const Case& given :
       {Case{Program::cholesky, 20, 210}, Case{Program::lu, 14, 196}, Case{Program::product_of_tiles, 8, 192}}) {
    const TaskGraph graph = graph_of(given.program, given.tiles);
    for (const vm::PolicyName& policy : vm::policy_names()) {
      const Outcome outcome = outcome_of(graph, machine_of(given), policy.name);
      CHECK(static_cast<double>(graph.work_ns()) >= 0.98 * static_cast<double>(outcome.makespan_ns));
    }
  }
}

TEST_CASE("B3: eager loads every input of a product again for each row once one row does not fit") {
  CHECK(loads_of({Program::product_of_inputs, 98, 100}, "eager") == 196);
  CHECK(loads_of({Program::product_of_inputs, 99, 100}, "eager") == 9802);
  CHECK(loads_of({Program::product_of_inputs, 100, 100}, "eager") == 10100);
  CHECK(loads_of({Program::product_of_inputs, 150, 100}, "eager") == 22650);
}

TEST_CASE("B4: darts stays near the least loads") {
  struct Limit {
    Case given;
    double most;
  };
  for (const auto& [given, most] :
       {Limit{{Program::cholesky, 25, 210}, 2.5}, Limit{{Program::cholesky, 29, 210}, 3.8},
        Limit{{Program::cholesky, 35, 210}, 4.2}, Limit{{Program::lu, 17, 196}, 1.6},
        Limit{{Program::lu, 20, 196}, 2.6}, Limit{{Program::lu, 24, 196}, 3.1},
        Limit{{Program::product_of_inputs, 25, 100}, 1.0}, Limit{{Program::product_of_inputs, 50, 100}, 1.1},
        Limit{{Program::product_of_inputs, 75, 100}, 1.3}, Limit{{Program::product_of_inputs, 100, 100}, 1.6},
        Limit{{Program::product_of_inputs, 150, 100}, 2.1}})
    for (const char* policy : data_first) {
      CAPTURE(policy);
      CAPTURE(given.tiles);
      CHECK(loads_of(given, policy) <= most * bound_of(given));
    }
}

TEST_CASE("B5: on one device the others load twice as much") {
  for (const Case& given :
       {Case{Program::cholesky, 25, 210}, Case{Program::cholesky, 29, 210}, Case{Program::cholesky, 35, 210},
        Case{Program::lu, 17, 196}, Case{Program::lu, 20, 196}, Case{Program::lu, 24, 196}}) {
    CAPTURE(given.tiles);
    const double eager = loads_of(given, "eager"), lws = loads_of(given, "lws"), dmdas = loads_of(given, "dmdas");
    for (const char* policy : data_first) {
      CAPTURE(policy);
      const double darts = loads_of(given, policy);
      CHECK(eager >= 1.9 * darts);
      CHECK(lws >= 2.2 * darts);
      if (given.tiles != 25 && given.tiles != 17) CHECK(dmdas >= 2 * darts);
    }
  }
}

TEST_CASE("B6: on one bus eager takes twice as long") {
  for (const Case& given :
       {Case{Program::cholesky, 20, 105, 4}, Case{Program::cholesky, 28, 105, 4}, Case{Program::cholesky, 35, 105, 4},
        Case{Program::cholesky, 41, 105, 4}, Case{Program::product_of_inputs, 50, 25, 4},
        Case{Program::product_of_inputs, 75, 25, 4}, Case{Program::product_of_inputs, 100, 25, 4}}) {
    const TaskGraph graph = graph_of(given.program, given.tiles);
    Machine machine = machine_of(given);
    machine.has_one_bus = true;
    CAPTURE(given.tiles);
    const std::int64_t eager_ns = outcome_of(graph, machine, "eager").makespan_ns;
    for (const char* policy : data_first) CHECK(eager_ns >= 2 * outcome_of(graph, machine, policy).makespan_ns);
  }
}

TEST_CASE("B7: with links between four devices the others load more, from the host and from each other") {
  for (const Case& given : {Case{Program::cholesky, 35, 105, 4}, Case{Program::cholesky, 41, 105, 4},
                            Case{Program::lu, 24, 100, 4}, Case{Program::lu, 28, 100, 4}}) {
    CAPTURE(given.tiles);
    CHECK(loads_of(given, "darts", true) >= 2.9 * bound_of(given));
    for (const char* policy : data_first) {
      CAPTURE(policy);
      const double darts = loads_of(given, policy, true);
      CHECK(darts <= 5.5 * bound_of(given));
      for (const char* other : {"eager", "lws", "dmdas"}) CHECK(loads_of(given, other, true) >= 1.7 * darts);
      CHECK(loads_of(given, "dmdar", true) >= 1.25 * darts);
    }
  }
}

TEST_CASE("the default loads no more than the fewest missing bytes on one device, than darts on four") {
  for (const Case& given :
       {Case{Program::cholesky, 22, 210}, Case{Program::cholesky, 29, 210}, Case{Program::cholesky, 41, 210},
        Case{Program::lu, 16, 196}, Case{Program::lu, 20, 196}, Case{Program::lu, 28, 196},
        Case{Program::product_of_inputs, 75, 100}, Case{Program::product_of_inputs, 98, 100},
        Case{Program::product_of_inputs, 125, 100}, Case{Program::product_of_tiles, 12, 100}}) {
    CAPTURE(given.tiles);
    const double ours = loads_of(given, vm::default_policy);
    CHECK(ours <= loads_of(given, "dmdas-paper"));
    CHECK(ours <= 1.05 * loads_of(given, "darts"));
  }
  for (const Case& given : {Case{Program::cholesky, 28, 105, 4}, Case{Program::cholesky, 41, 105, 4},
                            Case{Program::lu, 24, 100, 4}, Case{Program::lu, 28, 100, 4},
                            Case{Program::product_of_inputs, 100, 25, 4}, Case{Program::product_of_tiles, 12, 50, 4}}) {
    CAPTURE(given.tiles);
    CHECK(loads_of(given, vm::default_policy, true) <= loads_of(given, "darts", true));
  }
}

TEST_CASE("a product whose columns all fit is loaded once by the default") {
  for (const unsigned tiles : {60u, 75u, 98u})
    CHECK(loads_of({Program::product_of_inputs, tiles, 100}, vm::default_policy) == 2 * tiles);
}

TEST_CASE("a task that does not fit is told of before anything runs") {
  const auto outcome = simulate(graph_of(Program::cholesky, 4), {.memory_bytes = 2 * tile_bytes}, "darts");
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error() == "task 5 has operands of 99532800 bytes, a device has memory for 66355200");
  CHECK(simulate(graph_of(Program::cholesky, 4), {.memory_bytes = 3 * tile_bytes}, "darts"));
  CHECK_FALSE(simulate(graph_of(Program::cholesky, 4), {.memory_bytes = 3 * tile_bytes}, "best"));
}

}  // namespace raddle::locality
