// What a GPU and its driver, the queues of the super kernel and our own code for devices cost, as lines of JSON.
//   raddle_gpu_bench [--small] facts|driver|queues|host|lengths
//   raddle_gpu_bench modules FILE..                 PTX for the driver
//   raddle_gpu_bench [--small] simulated|calls LIBRARY    without a GPU; the driver of tests
// Without a driver it says so in a row and ends with 0; with 1, after a row that says why, if something fails.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "gpu/server/driver_server.hpp"
#include "gpu/server/message.hpp"
#include "tests/bench/gpu/driver_costs.hpp"
#include "tests/bench/gpu/host_costs.hpp"
#include "tests/bench/gpu/queue_costs.hpp"
#include "tests/bench/gpu/simulated_costs.hpp"
#include "tests/bench/gpu/task_lengths.hpp"

int main(int argc, char** argv) {
  using namespace raddle::gpu::bench;
  if (argc == 3 && std::string_view(argv[1]) == raddle::gpu::server_word) return raddle::gpu::serve_driver(argv[2]);
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool is_small = std::erase(words, "--small") != 0;
  const std::string what = words.empty() ? "" : words.front();
  if (what == "host") {
    measure_arena(is_small);
    measure_queue_ends(is_small);
    return 0;
  }
  if (what == "lengths") {
    measure_task_lengths(is_small);
    return 0;
  }
  if (what == "calls" && words.size() == 2) {
    measure_calls_under_way(words[1], is_small);
    return 0;
  }
  if (what == "simulated" && words.size() == 2) {
    measure_simulated(words[1], is_small);
    return 0;
  }
  if (what != "facts" && what != "driver" && what != "modules" && what != "queues") {
    std::fputs(
        "raddle_gpu_bench [--small] facts|driver|queues|host|lengths, simulated|calls LIBRARY, or modules FILE..\n",
        stderr);
    return 2;
  }
  const BenchCard card;
  if (what == "facts") tell_facts(card);
  if (what == "driver") measure_driver(card, is_small);
  if (what == "modules") measure_modules(card, {words.begin() + 1, words.end()});
  if (what == "queues") measure_queues(card, is_small);
  std::_Exit(0);  // by the end of the process all is given back
}
