#include "vm/interpret/workspace.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "vm/interpret/diagnosis.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

Progress progress_of(const Future& variable) {
  if (!variable.is_resolved()) return Progress::unset;
  switch (depth_of(variable)) {
    case Depth::unset: return Progress::partly;
    case Depth::set: return Progress::complete;
    case Depth::failed: return Progress::failed;
  }
  return Progress::unset;
}

class Workspace::Job {
 public:
  Job(Machine& machine, const Program& program, const RunOptions& options) : run(machine, program, options) {}
  Run run;
};

struct Workspace::State {
  explicit State(const RunOptions& options) : machine(options) {}

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return has_work || is_ending; });
      if (is_ending) return;
      has_work = false;
      lock.unlock();
      machine.run_to_rest();
      lock.lock();
      if (machine.pool.stopped()) is_ending = true;
      is_resting = !has_work;
      if (is_resting || is_ending) changed.notify_all();
    }
  }
  bool has_job(const Cell& cell, const Job& job) const {
    const auto* frame = dynamic_cast<const Frame*>(&cell);
    return frame != nullptr && &frame->run_state == &job.run;
  }

  Machine machine;
  CellCache cells{machine.cells};  ///< of the thread that starts
  std::vector<std::unique_ptr<Job>> jobs;
  mutable std::mutex mutex;  ///< guards all below
  mutable std::condition_variable changed;
  bool has_work = false;   ///< injected since the machine was last set to work
  bool is_resting = true;  ///< the thread below waits, and there is nothing to do
  bool is_ending = false;
  std::thread thread;  ///< last: uses all of the above
};

Workspace::Workspace(const RunOptions& options) : state_(std::make_unique<State>(options)) {
  state_->thread = std::thread([state = state_.get()] { state->work(); });
}

Workspace::~Workspace() {
  state_->machine.pool.stop();
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
  for (const std::unique_ptr<Job>& job : state_->jobs) job->run.leaves.close();
  state_->machine.end();
}

Workspace::Job& Workspace::start(const Program& program, const RunOptions& options, std::vector<Future*> inputs,
                                 std::vector<Future*> outputs) {
  State& state = *state_;
  Job& job = *state.jobs.emplace_back(std::make_unique<Job>(state.machine, program, options));
  Frame* entry = job.run.make_entry_frame(state.cells, inputs, std::move(outputs));
  const std::lock_guard lock(state.mutex);
  state.machine.pool.inject(*entry);  // taken by the workers, or when the thread sets them to work again
  state.has_work = true;
  state.is_resting = false;
  state.changed.notify_all();
  return job;
}

bool Workspace::is_at_rest() const { return wait_for_rest(std::chrono::milliseconds(0)); }

bool Workspace::wait_for_rest(std::chrono::milliseconds most) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, most, [this] { return state_->is_resting || state_->is_ending; });
}

bool Workspace::is_stopped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_ending;
}

std::vector<RunFailure> Workspace::failures(Job& job) const { return job.run.failures(); }

std::vector<StuckVariable> Workspace::stuck(Job& job) const { return find_stuck(job.run); }

bool Workspace::take_if_ended(Job& job) {
  bool is_live = false;
  state_->machine.cells.for_each_live([&](Cell& cell) { is_live = is_live || state_->has_job(cell, job); });
  if (is_live) return false;
  job.run.leaves.close();
  std::erase_if(state_->jobs, [&job](const std::unique_ptr<Job>& each) { return each.get() == &job; });
  return true;
}

bool Workspace::stop(std::chrono::milliseconds most) {
  state_->machine.pool.stop();
  {
    const std::lock_guard lock(state_->mutex);
    state_->has_work = true;  // if it rests, it finds the pool stopped
    state_->is_resting = false;
  }
  state_->changed.notify_all();
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, most, [this] { return state_->is_ending; });
}

}  // namespace raddle::vm
