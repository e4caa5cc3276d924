#pragma once
// Devices with little memory, simulated by discrete events: what a policy makes of a graph of tasks.
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "tests/bench/locality/task_graph.hpp"
#include "vm/place/links.hpp"

namespace raddle::locality {

constexpr vm::Links usual_links{.to_device = 12'000'000'000, .to_host = 12'000'000'000};
constexpr std::int64_t usual_peer_speed = 24'000'000'000;  ///< of Links::between_devices

/// Each device computes one task at a time. A link has transfers one after the other, in the order of their requests;
/// the two directions do not disturb each other.
struct Machine {
  unsigned devices = 1;
  std::int64_t memory_bytes = 0;  ///< of each device
  unsigned buffered_tasks = 4;    ///< that a device takes ahead
  bool has_one_bus = false;       ///< one link to the host for all devices
  bool drops_dead_data = false;   ///< evicts what no task will touch before it asks the policy
  vm::Links links = usual_links;
};

struct Outcome {
  std::uint64_t loads = 0, peer_loads = 0, write_backs = 0, evictions = 0;
  std::uint64_t unused_loads = 0;  ///< evicted before a task has used them
  std::uint64_t dirty_at_end = 0;  ///< copies of results that the host does not have
  std::int64_t makespan_ns = 0;
  std::int64_t most_bytes = 0;    ///< that a device's memory held at some time
  std::uint32_t order_crc32 = 0;  ///< of "device:task,device:task.." in the order of starts
  std::int64_t policy_ns = 0;     ///< real time within the policy, if measured
};

enum class Measuring : std::uint8_t { off, policy_time };

/// @error  no such policy; a task whose operands do not fit, or a run that comes to rest before its end
std::expected<Outcome, std::string> simulate(const TaskGraph& graph, const Machine& machine, std::string_view policy,
                                             Measuring measuring = Measuring::off);

}  // namespace raddle::locality
