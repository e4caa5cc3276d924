#pragma once
// What it costs simulated workers to share memory.
#include <algorithm>
#include <bitset>
#include <vector>

#include "tests/bench/scheduler/virtual_clock.hpp"

namespace raddle::simulated {

constexpr unsigned most_workers = 1024;

/// Of a server with several sockets. The figures for one socket are those that we have measured, rounded up.
struct Costs {
  Nanoseconds load = 1;            ///< from the worker's own cache
  Nanoseconds locked = 5;          ///< an atomic access that no store may pass, in the worker's own cache
  Nanoseconds near_transfer = 50;  ///< of a cache line from another core of the domain
  Nanoseconds far_transfer = 150;  ///< from another domain
  Nanoseconds create = 40;         ///< a task
  Nanoseconds wake_call = 2'000;   ///< for the one who wakes
  Nanoseconds wake_up = 19'000;    ///< until the sleeper runs
};

struct Machine {
  std::vector<unsigned> domain_of_worker;
  Costs costs;
  VirtualClock clock;

  Nanoseconds transfer(int from, unsigned to) const {
    const bool is_near = from < 0 || domain_of_worker[static_cast<unsigned>(from)] == domain_of_worker[to];
    return is_near ? costs.near_transfer : costs.far_transfer;
  }
};

/// In the place of vm::NoMeter. A line is where it was last written, and where it has been read since; it is handed on
/// to one writer after the other.
class Meter {
 public:
  struct Line {
    mutable std::bitset<most_workers> readers;
    mutable int owner = -1;
    mutable Nanoseconds free_at = 0;
  };

  explicit Meter(Machine& machine) : machine_(&machine) {}

  void read(const Line& line, unsigned worker) const {
    if (line.readers[worker]) return machine_->clock.spend(machine_->costs.load);
    line.readers.set(worker);
    machine_->clock.wait_until(std::max(machine_->clock.now(), line.free_at) + machine_->transfer(line.owner, worker));
  }
  void write(const Line& line, unsigned worker) const { take_over(line, worker, 1); }
  /// A mutex, and a queue behind it: the lines of the mutex, of the queue's ends, of the first task.
  void lock(const Line& line, unsigned worker) const { take_over(line, worker, 3); }

 private:
  void take_over(const Line& line, unsigned worker, Nanoseconds lines) const {
    VirtualClock& clock = machine_->clock;
    if (line.owner == static_cast<int>(worker) && line.free_at <= clock.now() && line.readers.count() == 1)
      return clock.spend(lines * machine_->costs.locked);
    line.free_at = std::max(clock.now(), line.free_at) + lines * machine_->transfer(line.owner, worker);
    line.owner = static_cast<int>(worker);
    line.readers.reset();
    line.readers.set(worker);
    clock.wait_until(line.free_at);
  }

  Machine* machine_;
};

}  // namespace raddle::simulated
