#pragma once
// Which program starts next.
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "vm/external/processes.hpp"
#include "vm/external/redirects.hpp"

namespace raddle::vm {

/// A program that is to be started.
struct WaitingProgram {
  ProcessRequest request;
  std::function<void(ProcessResult)> done;
  Redirects redirects = {};
  std::optional<std::chrono::steady_clock::time_point> first_look = {};  ///< it has waited for a named pipe since
};

/// Those that wait, and what those that run take of the budget. For one thread at a time.
class ProgramQueue {
 public:
  explicit ProgramQueue(ProcessBudget budget) : budget_(budget) {}

  /// What a program takes from take() until release().
  struct Place {
    unsigned slot;  ///< ProcessResult::slot
    bool is_alone;  ///< it was taken in spite of a shortage, as nothing else runs
    std::int64_t cores;
    double memory_bytes;
  };
  struct Taken {
    WaitingProgram program;
    Place place;
  };

  void add(WaitingProgram program);
  /// The first waits no longer: the budget has room for it.
  bool can_start() const;
  /// @pre can_start()
  Taken take();
  void release(const Place& place);
  /// Something was lacking (process ids, descriptors, memory) to start it: it is the first of its priority again, and
  /// starts when end_shortage() was called, or alone.
  void put_back(WaitingProgram program);
  void end_shortage() { is_short_ = false; }
  void clear() { waiting_.clear(); }
  std::size_t size() const { return waiting_.size(); }

 private:
  unsigned take_slot();

  const ProcessBudget budget_;
  std::multimap<std::int64_t, WaitingProgram, std::greater<>> waiting_;  // by priority; equal ones stay in order
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free_slots_;  // of 1 .. slots_
  unsigned slots_ = 0;
  unsigned running_ = 0;
  std::int64_t cores_used_ = 0;
  double memory_used_ = 0;
  bool is_short_ = false;
};

}  // namespace raddle::vm
