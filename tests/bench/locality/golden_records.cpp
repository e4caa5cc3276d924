#include "tests/bench/locality/golden_records.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/bench/locality/lower_bounds.hpp"
#include "tests/bench/locality/simulation.hpp"
#include "vm/place/residency.hpp"

namespace raddle::locality {

namespace {

using Json = nlohmann::json;

constexpr const char* reference_file = "tests/golden/locality/golden_small.json";

/// What is wrong with a file. Leaves check_golden() as its error.
struct BadRecord {
  std::string text;
};

std::string text_of(const Json& record, const char* name) {
  const auto member = record.find(name);
  if (member == record.end()) throw BadRecord{fmt::format("no member `{}`", name)};
  if (!member->is_string()) throw BadRecord{fmt::format("`{}` is {}, not a string", name, member->dump())};
  return member->get<std::string>();
}

std::int64_t count_of(const Json& record, const char* name, std::int64_t least, std::int64_t most) {
  const auto member = record.find(name);
  if (member == record.end()) throw BadRecord{fmt::format("no member `{}`", name)};
  if (!member->is_number_integer() || *member < least || *member > most)
    throw BadRecord{fmt::format("`{}` is {}, not an integer from {} to {}", name, member->dump(), least, most)};
  return member->get<std::int64_t>();
}

bool flag_of(const Json& record, const char* name) {
  const auto member = record.find(name);
  if (member == record.end()) throw BadRecord{fmt::format("no member `{}`", name)};
  if (!member->is_boolean()) throw BadRecord{fmt::format("`{}` is {}, not true or false", name, member->dump())};
  return member->get<bool>();
}

bool has_one_bus(const Json& record) {
  const std::string bus = text_of(record, "bus");
  if (bus != "shared" && bus != "private") throw BadRecord{fmt::format("`bus` is `{}`, not shared or private", bus)};
  return bus == "shared";
}

Machine machine_of(const Json& record) {
  Machine machine{.devices = static_cast<unsigned>(count_of(record, "ngpu", 1, vm::most_devices)),
                  .memory_bytes = count_of(record, "mem_bytes", 1, std::int64_t{1} << 50),
                  .buffered_tasks = static_cast<unsigned>(count_of(record, "depth", 1, 1000)),
                  .has_one_bus = has_one_bus(record),
                  .drops_dead_data = flag_of(record, "hints")};
  if (flag_of(record, "p2p")) machine.links.between_devices = usual_peer_speed;
  return machine;
}

/// As the reference rounds numbers for its file.
double rounded(double value, int digits) { return std::stod(fmt::format("{:.{}f}", value, digits)); }

/// What the record says of the run.
Json outcome_members(const TaskGraph& graph, const Machine& machine, const Outcome& outcome,
                     const LowerBounds& bounds) {
  const double work = static_cast<double>(graph.work_ns());
  Json members = Json::object();
  members["loads"] = outcome.loads;
  members["peer"] = outcome.peer_loads;
  members["writebacks"] = outcome.write_backs;
  members["final_dirty"] = outcome.dirty_at_end;
  members["evictions"] = outcome.evictions;
  members["wasted"] = outcome.unused_loads;
  members["makespan_ns"] = outcome.makespan_ns;
  members["work_ns"] = graph.work_ns();
  members["efficiency"] = rounded(work / (static_cast<double>(outcome.makespan_ns) * machine.devices), 4);
  members["order_crc32"] = fmt::format("{:08x}", outcome.order_crc32);
  members["lb"] = rounded(bounds.usual, 1);
  return members;
}

/// @return what differs; empty: nothing
std::string repeat(const Json& record) {
  if (!record.is_object()) throw BadRecord{"it is no object"};
  const std::string name = text_of(record, "app"), policy = text_of(record, "sched");
  const std::optional<Program> program = program_of(name);
  if (!program) throw BadRecord{fmt::format("no program `{}`", name)};
  const auto tiles = static_cast<unsigned>(count_of(record, "n", 1, 1000));
  const Machine machine = machine_of(record);
  const TaskGraph graph = graph_of(*program, tiles);
  const std::expected<Outcome, std::string> outcome = simulate(graph, machine, policy);
  if (!outcome) throw BadRecord{outcome.error()};
  const LowerBounds bounds =
      lower_bounds(*program, tiles, count_of(record, "m", 1, std::int64_t{1} << 40), machine.devices);
  std::string differences;
  const Json members = outcome_members(graph, machine, *outcome, bounds);
  for (const auto& [key, value] : members.items()) {
    if (!record.contains(key)) throw BadRecord{fmt::format("no member `{}`", key)};
    if (record[key] != value)
      differences +=
          fmt::format("{}{} is {}, here {}", differences.empty() ? "" : "; ", key, record[key].dump(), value.dump());
  }
  return differences.empty() ? "" : fmt::format("{} of {} tiles, {}: {}", name, tiles, policy, differences);
}

}  // namespace

std::expected<GoldenCheck, std::string> check_golden(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::unexpected(fmt::format("can not read `{}`", path));
  Json records;
  try {
    records = Json::parse(file);
  } catch (const Json::exception& error) {
    return std::unexpected(fmt::format("`{}` is no JSON: {}", path, error.what()));
  }
  if (!records.is_array())
    return std::unexpected(fmt::format("`{}` has no array of records, as {} has", path, reference_file));
  GoldenCheck check;
  for (const Json& record : records) {
    try {
      if (std::string differences = repeat(record); !differences.empty())
        check.differences.push_back(fmt::format("record {}: {}", check.records, differences));
    } catch (const BadRecord& bad) {
      return std::unexpected(
          fmt::format("`{}`, record {}: {}; it is to have what the reference simulator writes, as {}", path,
                      check.records, bad.text, reference_file));
    }
    ++check.records;
  }
  return check;
}

}  // namespace raddle::locality
