#include "vm/interpret/workspace.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "vm/diagnose/diagnosis.hpp"
#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/memory/large_blocks.hpp"

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

Value failure_of(const Future& variable) { return failure_in(variable); }

/// Is the task that begins it, too: all cells of a machine are made by its workers.
///
/// Note [Cells of a workspace]. Where the machine comes to rest, its thread walks over all cells
/// (force_deferred_calls), and so does the prompt's thread while the machine rests (take_if_ended, stuck). A cell that
/// the prompt's thread made when it starts something could be half made then. So it makes none: it hands over this
/// task, which lies in no CellStore, through the pool's queue, and the worker that takes it makes the entry's frame. A
/// machine that rests has no worker that runs, and nothing can be started while the prompt's thread itself walks.
class Workspace::Activity final : public Task {
 public:
  Activity(Machine& machine, const Program& program, const RunOptions& options, std::vector<Future*> inputs,
           std::vector<Future*> outputs)
      : run_state(machine, program, options), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  void run(Worker& worker) override {
    CellCache& cells = run_state.machine.cache_of(worker.index());
    run_state.make_entry_frame(cells, inputs_, std::move(outputs_))->run(worker);
  }
  Run run_state;

 private:
  std::vector<Future*> inputs_, outputs_;
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
      machine.cells.trim();
      LargeBlocks::trim();
      lock.lock();
      if (machine.pool.stopped()) is_ending = true;
      is_resting = !has_work;
      if (is_resting || is_ending) changed.notify_all();
    }
  }
  bool belongs_to(const Cell& cell, const Activity& activity) const {
    const auto* frame = dynamic_cast<const Frame*>(&cell);
    return frame != nullptr && &frame->run_state == &activity.run_state;
  }

  Machine machine;
  std::vector<std::unique_ptr<Activity>> activities;
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
  for (const std::unique_ptr<Activity>& activity : state_->activities) activity->run_state.close();
  state_->machine.end();
}

Workspace::Activity& Workspace::start(const Program& program, const RunOptions& options, std::vector<Future*> inputs,
                                      std::vector<Future*> outputs) {
  State& state = *state_;
  Activity& activity = *state.activities.emplace_back(
      std::make_unique<Activity>(state.machine, program, options, std::move(inputs), std::move(outputs)));
  const std::lock_guard lock(state.mutex);
  state.machine.pool.inject(activity);  // taken by the workers, or when the thread sets them to work again
  state.has_work = true;
  state.is_resting = false;
  state.changed.notify_all();
  return activity;
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

std::vector<RunFailure> Workspace::failures(Activity& activity) const { return activity.run_state.failures(); }

std::vector<RunFailure> Workspace::replaced_failures(Activity& activity) const {
  return activity.run_state.replaced_failures();
}

std::vector<StuckVariable> Workspace::stuck(Activity& activity) const { return find_stuck(activity.run_state); }

bool Workspace::take_if_ended(Activity& activity) {
  bool is_live = false;
  state_->machine.cells.for_each_live([&](Cell& cell) { is_live = is_live || state_->belongs_to(cell, activity); });
  if (is_live) return false;
  activity.run_state.close();
  std::erase_if(state_->activities,
                [&activity](const std::unique_ptr<Activity>& each) { return each.get() == &activity; });
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
