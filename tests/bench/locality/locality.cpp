// `raddle_locality`: what policies of vm/place make of programs over tiles, on simulated devices with little memory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "tests/bench/locality/golden_records.hpp"
#include "tests/bench/locality/launch_programs.hpp"
#include "tests/bench/locality/lower_bounds.hpp"
#include "tests/bench/locality/simulation.hpp"
#include "vm/place/policy.hpp"

namespace raddle::locality {
namespace {

enum Exit { exit_ok = 0, exit_differs = 1, exit_usage = 2 };

struct Words {
  std::string golden, program = "cholesky", priorities = "given";
  std::vector<std::string> policies;
  unsigned tiles = 20;
  std::uint64_t memory_bytes = 0;
  bool prints_transfers = false, has_peers = false, times_policies = false, is_csv = false;
  Machine machine;
};

int complain(const std::string& text) {
  fmt::print(stderr, "raddle_locality: {}\n", text);
  return exit_usage;
}

int compare_with(const std::string& path) {
  const std::expected<GoldenCheck, std::string> check = check_golden(path);
  if (!check) return complain(check.error());
  for (const std::string& difference : check->differences) fmt::print("{}\n", difference);
  fmt::print("{} of {} records agree\n", check->records - check->differences.size(), check->records);
  return check->differences.empty() ? exit_ok : exit_differs;
}

void print_head(const Words& words, const TaskGraph& graph, const LowerBounds& bounds) {
  fmt::print("{}: {} tasks, {} data of {} bytes; {} device(s) of {} bytes\n", words.program, graph.tasks.size(),
             graph.bytes.size(), tile_bytes, words.machine.devices, words.machine.memory_bytes);
  fmt::print("least loads: {:.0f} compulsory, {:.1f} proved, {:.1f} by the leading term\n", bounds.compulsory,
             bounds.proved, bounds.leading);
  fmt::print("{:<12} {:>8} {:>8} {:>11} {:>9} {:>9} {:>7} {:>12} {:>10} {:>9}{}\n", "policy", "loads", "peers",
             "write-backs", "evictions", "GB moved", "x bound", "makespan ms", "efficiency", "GFlop/s",
             words.times_policies ? "  policy ns/task" : "");
}

void print_row(const Words& words, const std::string& policy, const TaskGraph& graph, const LowerBounds& bounds,
               const Outcome& outcome) {
  const auto loads = static_cast<double>(outcome.loads + outcome.peer_loads);
  const double moved = (loads + static_cast<double>(outcome.write_backs)) * static_cast<double>(tile_bytes);
  const auto makespan = static_cast<double>(outcome.makespan_ns);
  fmt::print("{:<12} {:>8} {:>8} {:>11} {:>9} {:>9.1f} {:>7.2f} {:>12.1f} {:>10.4f} {:>9.0f}", policy, outcome.loads,
             outcome.peer_loads, outcome.write_backs, outcome.evictions, moved / 1e9, loads / bounds.usual,
             makespan / 1e6, static_cast<double>(graph.work_ns()) / (makespan * words.machine.devices),
             graph.operations / makespan);
  if (words.times_policies)
    fmt::print("  {:>14.0f}", static_cast<double>(outcome.policy_ns) / static_cast<double>(graph.tasks.size()));
  fmt::print("\n");
  std::fflush(stdout);
}

void print_csv_head() {
  fmt::print(
      "program,tiles,devices,memory_bytes,data_bytes,policy,loads,peer_loads,write_backs,evictions,makespan_ns,"
      "gflops,peak_gflops,compulsory,proved,bound\n");
}

void print_csv_row(const Words& words, const std::string& policy, const TaskGraph& graph, const LowerBounds& bounds,
                   const Outcome& outcome) {
  fmt::print("{},{},{},{},{},{},{},{},{},{},{},{:.1f},{:.1f},{:.0f},{:.1f},{:.1f}\n", words.program, words.tiles,
             words.machine.devices, words.machine.memory_bytes,
             static_cast<std::int64_t>(graph.bytes.size()) * tile_bytes, policy, outcome.loads, outcome.peer_loads,
             outcome.write_backs, outcome.evictions, outcome.makespan_ns,
             graph.operations / static_cast<double>(outcome.makespan_ns),
             graph.operations * words.machine.devices / static_cast<double>(graph.work_ns()), bounds.compulsory,
             bounds.proved, bounds.usual);
}

/// Of five runs the one that others on this computer have disturbed least.
std::expected<Outcome, std::string> least_time(const TaskGraph& graph, const Machine& machine,
                                               const std::string& policy) {
  auto best = simulate(graph, machine, policy, Measuring::policy_time);
  for (int i = 1; best && i < 5; ++i) {
    const auto again = simulate(graph, machine, policy, Measuring::policy_time);
    if (again && again->policy_ns < best->policy_ns) best = again;
  }
  return best;
}

constexpr auto most_memory_bytes = std::uint64_t{1} << 50;  // sums of them do not overflow

int run_program(Words& words) {
  const std::optional<Program> program = program_of(words.program);
  if (!program) return complain(fmt::format("no program `{}`: cholesky, lu, mm, mm-noC, mm-3d", words.program));
  if (words.memory_bytes == 0) return complain("--memory BYTES is missing");
  if (words.memory_bytes > most_memory_bytes) return complain("--memory is more than 1 PiB");
  words.machine.memory_bytes = static_cast<std::int64_t>(words.memory_bytes);
  if (words.has_peers) words.machine.links.between_devices = usual_peer_speed;
  if (words.policies.empty())
    for (const vm::PolicyName& policy : vm::policy_names()) words.policies.emplace_back(policy.name);
  const std::optional<Priorities> priorities = priorities_of(words.priorities);
  if (!priorities) return complain(fmt::format("no priorities `{}`: given, bottom, none", words.priorities));
  TaskGraph graph = graph_of(*program, words.tiles);
  set_priorities(graph, *priorities);
  const LowerBounds bounds =
      lower_bounds(*program, words.tiles, words.machine.memory_bytes / tile_bytes, words.machine.devices);
  if (words.is_csv)
    print_csv_head();
  else
    print_head(words, graph, bounds);
  for (const std::string& policy : words.policies) {
    const auto outcome = words.times_policies ? least_time(graph, words.machine, policy)
                                              : simulate(graph, words.machine, policy, Measuring::off);
    if (!outcome) return complain(outcome.error());
    (words.is_csv ? print_csv_row : print_row)(words, policy, graph, bounds, *outcome);
  }
  return exit_ok;
}

std::string policies_text() {
  std::string text = "policies:\n";
  for (const vm::PolicyName& policy : vm::policy_names())
    text += fmt::format("  {:<12} {}\n", policy.name, policy.about);
  return text;
}

void add_options(CLI::App& app, Words& words) {
  app.add_option("--golden", words.golden, "Repeat the runs of this file, and tell how many agree")->type_name("FILE");
  app.add_flag(
      "--transfers", words.prints_transfers,
      "Programs of launches: their transfers, in how many messages these go, and microseconds for vectors of 64 KiB "
      "where a message of N bytes takes 10 us + N / (12 GB/s)");
  app.add_option("--program", words.program,
                 "cholesky, lu, mm: a product of rows and columns of tiles; mm-noC: one whose results take no memory; "
                 "mm-3d: a product of tiles");
  app.add_option("--tiles", words.tiles, "Tiles on each side of a matrix")->check(CLI::Range(1, 1000));
  app.add_option("--priorities", words.priorities,
                 "Of tasks: those of the program (given), bottom levels (bottom), or none");
  app.add_option("--devices", words.machine.devices, "How many")->check(CLI::Range(1u, vm::most_devices));
  app.add_option("--memory", words.memory_bytes, "Of each device, in bytes: 7G")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  app.add_option("--policy", words.policies, "Some of those below; else all")->delimiter(',');
  app.add_option("--ahead", words.machine.buffered_tasks, "Tasks that a device takes ahead")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--peers", words.has_peers, "Devices have links to each other");
  app.add_flag("--one-bus", words.machine.has_one_bus, "All devices share one link to the host");
  app.add_flag("--drop-dead", words.machine.drops_dead_data, "Data that no task needs any more go first");
  app.add_flag("--time", words.times_policies,
               "Also the time within the policy for each task, all calls together; the least of five runs");
  app.add_flag("--csv", words.is_csv, "A table for programs, without --time")->excludes("--time");
  app.footer(policies_text());
}

}  // namespace
}  // namespace raddle::locality

int main(int argc, char** argv) {
  using namespace raddle::locality;
  CLI::App app("What placement policies make of tiled programs on simulated devices with little memory.",
               "raddle_locality");
  Words words;
  add_options(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  if (words.prints_transfers) {
    print_transfers();
    return exit_ok;
  }
  return words.golden.empty() ? run_program(words) : compare_with(words.golden);
}
