#pragma once
// What a run waits for outside of itself: programs, interpreters of other languages, points in time.
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/external/processes.hpp"
#include "vm/external/server_pool.hpp"
#include "vm/external/timers.hpp"

namespace raddle::vm {

/// Threads and processes are started when they are first needed.
class Outside {
 public:
  /// @param budget, outputs  of programs   @param server_limit  servers of each kind
  /// @param variables        that ranks have set
  Outside(ProcessBudget budget, ProgramOutputs outputs, unsigned server_limit, std::vector<Variables> variables = {})
      : outputs_(std::move(outputs)),
        variables_(std::move(variables)),
        processes_(std::make_unique<Processes>(budget, outputs_)),
        timers_(std::make_unique<Timers>()),
        server_limit_(server_limit) {}
  /// Ends all that is under way; nobody is called back any more. Nothing may be asked for afterwards.
  void end() {
    if (processes_) processes_->end_all();  // meanwhile it can still be asked what runs
    std::unique_ptr<Processes> ended;
    {
      const std::lock_guard lock(mutex_);
      ended = std::move(processes_);
    }
    ended.reset();
    timers_.reset();
    std::vector<ServerPool*> pools;
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
      for (const auto& [name, pool] : servers_) pools.push_back(pool.get());
    }
    for (ServerPool* const pool : pools) pool->end();
    for (ServerPool* const pool : pools) pool->join();
    servers_.clear();
  }

  Processes& processes() { return *processes_; }
  /// Of programs and servers that a rank starts.
  Variables environment_of(std::int32_t rank) const { return rank_environment(rank, variables_); }
  /// Any thread, also while end() is at work.
  ProgramsNow programs() {
    const std::lock_guard lock(mutex_);
    return processes_ ? processes_->now() : ProgramsNow();
  }
  /// Nobody waits for what runs any more. Any thread, also while end() is at work.
  void kill_programs() {
    const std::lock_guard lock(mutex_);
    if (processes_) processes_->kill_all();
  }
  Timers& timers() { return *timers_; }
  /// The pool of this name, made at the first call with this command. Any thread.
  /// @param memory_fd  as ServerPool has it
  ServerPool& servers(const std::string& name, const std::vector<std::string>& command, int memory_fd = -1) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<ServerPool>& pool = servers_[name];
    if (!pool) pool = std::make_unique<ServerPool>(command, server_limit_, outputs_, variables_, memory_fd);
    if (has_ended_) pool->end();
    return *pool;
  }

 private:
  const ProgramOutputs outputs_;
  const std::vector<Variables> variables_;
  std::unique_ptr<Processes> processes_;
  std::unique_ptr<Timers> timers_;
  const unsigned server_limit_;
  std::mutex mutex_;        // guards the next two, and the end of processes_
  bool has_ended_ = false;  // pools may still be asked, by threads of others, and drop it
  std::unordered_map<std::string, std::unique_ptr<ServerPool>> servers_;
};

}  // namespace raddle::vm
