#include "compiler/sweep/sweep.hpp"

#include <chrono>

namespace raddle::sweep {
namespace {

constexpr std::uint64_t first_runs = 10;  // if they all fail, the others will, too
constexpr std::uint64_t percent_from = 10;
constexpr auto tick_time = std::chrono::milliseconds(100);

}  // namespace

Sweep::Sweep(Cursor& cursor, PointRunner& runner, const SweepOptions& options, Hooks hooks)
    : cursor_(cursor),
      runner_(runner),
      options_(options),
      hooks_(std::move(hooks)),
      ready_target_(64 + 2 * std::size_t{options.jobs}) {
  counts_.candidates = cursor.size();
}

bool Sweep::is_over() const {
  return counts_.running == 0 && (stop_ != SweepStop::none || (all_prepared_ && ready_.empty()));
}

SweepStop Sweep::run() {
  auto next_tick = std::chrono::steady_clock::now();
  const auto tick = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_tick) return;
    next_tick = now + tick_time;
    if (hooks_.tick) hooks_.tick(counts());
  };
  for (;;) {
    bool has_more = true;
    while (has_more) {
      has_more = prepare_next();
      tick();
    }
    std::unique_lock lock(mutex_);
    start_ready(lock);
    changed_.wait_until(lock, next_tick, [&] {
      return is_over() || (stop_ == SweepStop::none && !all_prepared_ && ready_.size() < ready_target_ / 2);
    });
    if (is_over()) break;
    lock.unlock();
    tick();
  }
  if (hooks_.tick) hooks_.tick(counts());
  const std::lock_guard lock(mutex_);
  const bool is_through = all_prepared_ && ready_.empty() && !is_ending_;
  return is_through && stop_ == SweepStop::asked ? SweepStop::none : stop_;
}

// Takes one point from the cursor; nobody else does. @return false if that is not wanted now
bool Sweep::prepare_next() {
  {
    const std::lock_guard lock(mutex_);
    if (all_prepared_ || stop_ != SweepStop::none || ready_.size() >= ready_target_) return false;
  }
  std::optional<Point> point = cursor_.next();
  const bool is_taken = point && hooks_.is_done && hooks_.is_done(*point);
  std::unique_lock lock(mutex_);
  counts_.looked_at = cursor_.position();
  if (!point) {
    all_prepared_ = true;
    if (!cursor_.error().empty()) stop_ = SweepStop::broken;
    return false;
  }
  ++counts_.found;
  if (is_taken) {
    ++counts_.taken;
  } else {
    ready_.push_back({std::move(*point)});
    start_ready(lock);
  }
  return true;
}

// The lock stays held: the runner calls back from its own thread only.
void Sweep::start_ready(std::unique_lock<std::mutex>&) {
  while (counts_.running < options_.jobs && !ready_.empty() && stop_ == SweepStop::none) {
    Task task = std::move(ready_.front());
    ready_.pop_front();
    ++counts_.running;
    const Point& point = task.point;
    runner_.run(point, [this, task](const Attempt& attempt) { ended(task, attempt); });
  }
}

void Sweep::ended(Task task, const Attempt& attempt) {
  const bool is_ok = attempt.outcome == vm::PointOutcome::ok;
  const bool is_last = is_ok || task.attempt > options_.retries || attempt.outcome == vm::PointOutcome::not_started;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    is_dropped = is_ending_ && !is_ok;
  }
  const bool is_kept = is_dropped || hooks_.keep(task.point, attempt, task.attempt, is_last);
  std::unique_lock lock(mutex_);
  --counts_.running;
  if (!is_kept) stop_ = SweepStop::broken;
  if (!is_dropped && is_last) count(task, attempt);
  if (!is_dropped && !is_last) {
    ++counts_.retried;
    ++task.attempt;
    ready_.push_front(std::move(task));
  }
  start_ready(lock);
  if (is_over() || (!all_prepared_ && ready_.size() == ready_target_ / 2 - 1)) changed_.notify_all();
}

void Sweep::count(const Task& task, const Attempt& attempt) {
  if (attempt.outcome == vm::PointOutcome::ok) {
    ++counts_.ok;
    return;
  }
  ++counts_.failed;
  failures_.add(task.point, attempt);
  judge_failures();
}

void Sweep::judge_failures() {
  const double failed = static_cast<double>(counts_.failed);
  const std::uint64_t ended = counts_.ok + counts_.failed;
  bool are_too_many = false;
  if (options_.max_fails && options_.max_fails->is_percent)
    are_too_many = ended >= percent_from && failed * 100 > options_.max_fails->number * static_cast<double>(ended);
  else if (options_.max_fails)
    are_too_many = failed > options_.max_fails->number;
  else
    are_too_many = !options_.keep_going && counts_.ok + counts_.taken == 0 && counts_.failed == first_runs;
  if (are_too_many && stop_ == SweepStop::none) stop_ = SweepStop::failures;
}

void Sweep::request_stop() {
  const std::lock_guard lock(mutex_);
  if (stop_ == SweepStop::none) stop_ = SweepStop::asked;
  changed_.notify_all();
}

void Sweep::end_now() {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ == SweepStop::none) stop_ = SweepStop::asked;
    is_ending_ = true;
  }
  runner_.end_all();
  const std::lock_guard lock(mutex_);
  counts_.running = 0;  // what was asked for but not started is told to nobody
  changed_.notify_all();
}

SweepCounts Sweep::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace raddle::sweep
