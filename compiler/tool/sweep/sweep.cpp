#include "compiler/tool/sweep/sweep.hpp"

#include <algorithm>
#include <chrono>

namespace raddle::sweep {
namespace {

constexpr std::uint64_t percent_from = 10;
constexpr auto tick_time = std::chrono::milliseconds(100);
constexpr std::size_t first_look_ahead = 16;  // then twice as many each time
constexpr std::size_t point_look_ahead = 1024, block_look_ahead = 1 << 18;
constexpr std::size_t largest_block = 1 << 16;
constexpr double short_block_s = 0.02, long_block_s = 0.2;

}  // namespace

Sweep::Sweep(Cursor& cursor, PointRunner& runner, const SweepOptions& options, Hooks hooks)
    : cursor_(cursor),
      runner_(runner),
      blocks_(runner.blocks()),
      options_(options),
      hooks_(std::move(hooks)),
      ready_target_(blocks_ == nullptr ? 64 + 2 * std::size_t{options.jobs} : 2 * std::size_t{options.jobs}),
      look_ahead_(first_look_ahead) {
  counts_.candidates = cursor.size();
}

bool Sweep::is_over() const {
  const bool is_through = all_prepared_ && ready_.empty() && busy_.empty();
  return running_tasks_ == 0 && starting_ == 0 && (stop_ != SweepStop::none || is_through);
}

// Only if prepare_next() would prepare something: else run() would not wait for what others run.
bool Sweep::wants_more() const {
  return !all_prepared_ && ready_.size() < ready_target_ / 2 && ready_.size() + busy_.size() < ready_target_;
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
    changed_.wait_until(lock, next_tick, [&] { return is_over() || (stop_ == SweepStop::none && wants_more()); });
    if (is_over()) break;
    lock.unlock();
    tick();
    lock.lock();
    try_busy_again();
  }
  if (hooks_.tick) hooks_.tick(counts());
  const std::lock_guard lock(mutex_);
  const bool is_through = all_prepared_ && ready_.empty() && busy_.empty() && !is_ending_;
  return is_through && stop_ == SweepStop::asked ? SweepStop::none : stop_;
}

// Makes one task of points from the cursor; nobody else does. @return false if that is not wanted now
bool Sweep::prepare_next() {
  {
    const std::lock_guard lock(mutex_);
    if (all_prepared_ || stop_ != SweepStop::none || ready_.size() + busy_.size() >= ready_target_) return false;
  }
  const bool is_at_end = candidates_.empty() && !look_ahead();
  std::unique_lock lock(mutex_);
  if (is_at_end) {
    all_prepared_ = true;
    if (!cursor_.error().empty() || !error_.empty()) stop_ = SweepStop::broken;
    return false;
  }
  if (candidates_.empty()) return true;
  ready_.push_back(take_candidates());
  start_ready(lock);
  return true;
}

// @return false if there are no more points
bool Sweep::look_ahead() {
  std::vector<std::uint64_t> numbers;
  while (numbers.size() < look_ahead_) {
    const std::optional<std::uint64_t> number = cursor_.next_number();
    if (!number) break;
    numbers.push_back(*number);
  }
  look_ahead_ = std::min(2 * look_ahead_, blocks_ == nullptr ? point_look_ahead : block_look_ahead);
  Done found = hooks_.are_done && !numbers.empty() ? hooks_.are_done(numbers) : std::vector<bool>(numbers.size());
  if (!found) {
    error_ = std::move(found.error());
    return false;
  }
  const std::vector<bool>& are_done = *found;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!are_done[i]) candidates_.push_back(numbers[i]);
  const std::lock_guard lock(mutex_);
  counts_.looked_at = cursor_.position();
  counts_.found += numbers.size();
  counts_.taken += numbers.size() - candidates_.size();
  return !numbers.empty();
}

Sweep::Task Sweep::take_candidates() {
  Task task;
  if (blocks_ == nullptr) {
    task.number = candidates_.front();
    candidates_.pop_front();
    return task;
  }
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(std::min(block_size_, candidates_.size()));
  task.block.assign(candidates_.begin(), end);
  candidates_.erase(candidates_.begin(), end);
  return task;
}

// Without the lock, as files may be read for a point before it starts.
void Sweep::start_ready(std::unique_lock<std::mutex>& lock) {
  while (running_tasks_ < options_.jobs && !ready_.empty() && stop_ == SweepStop::none) {
    Task task = std::move(ready_.front());
    ready_.pop_front();
    ++running_tasks_;
    counts_.running += task.size();
    ++starting_;
    lock.unlock();
    const std::size_t size = task.size(), done = claim(task);
    const bool is_begun = task.claim && done < size;
    if (is_begun && done != 0) {
      lock.lock();
      counts_.running -= done;
      counts_.taken += done;
      lock.unlock();
    }
    if (is_begun) start(std::move(task));
    lock.lock();
    --starting_;
    if (!is_begun) {
      --running_tasks_;
      counts_.running -= size;
      counts_.taken += done;
      if (!task.claim) {
        counts_.waiting += size;
        busy_.push_back(std::move(task));
      }
      changed_.notify_all();
    }
    if (starting_ == 0 && is_ending_) changed_.notify_all();
  }
}

// Takes out of a block what others have done. @return how many points they have done
std::size_t Sweep::claim(Task& task) {
  if (task.claim) return 0;
  const std::span<const std::uint64_t> numbers =
      task.block.empty() ? std::span<const std::uint64_t>(&task.number, 1) : std::span<const std::uint64_t>(task.block);
  auto claimed = hooks_.claim(numbers, !task.block.empty());
  if (!claimed) {
    const std::lock_guard lock(mutex_);
    claim_error_ = std::move(claimed.error());
    if (stop_ == SweepStop::none) stop_ = SweepStop::broken;
    return 0;
  }
  task.claim = std::move(claimed->claim);
  if (!task.claim) return 0;
  const std::vector<bool>& are_done = claimed->are_done;
  const auto done = static_cast<std::size_t>(std::ranges::count(are_done, true));
  if (done != 0 && done < task.block.size()) {
    std::size_t at = 0;
    std::erase_if(task.block, [&](std::uint64_t) { return are_done[at++]; });
  }
  return done;
}

// mutex_ is held.
void Sweep::try_busy_again() {
  for (; !busy_.empty(); busy_.pop_back()) {
    counts_.waiting -= busy_.back().size();
    ready_.push_front(std::move(busy_.back()));
  }
}

void Sweep::start(Task task) {
  if (!task.block.empty()) {
    const std::size_t size = task.size();
    blocks_->run(std::move(task.block), [this, size, claim = std::move(task.claim)](BlockResult result) {
      block_ended(size, std::move(result), claim);
    });
    return;
  }
  const Point point = cursor_.space().point(task.number);
  runner_.run(point, task.attempt,
              [this, point, number = task.attempt, claim = std::move(task.claim)](const Attempt& attempt) {
                ended(point, number, attempt, claim);
              });
}

void Sweep::ended(const Point& point, std::uint32_t attempt_number, const Attempt& attempt, vm::PointClaim claim) {
  const bool is_ok = attempt.outcome == vm::PointOutcome::ok;
  const bool is_last = is_ok || attempt_number > options_.retries || attempt.outcome == vm::PointOutcome::not_started;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    is_dropped = is_ending_ && !is_ok;
  }
  const bool is_kept = is_dropped || hooks_.keep(point, attempt, attempt_number, is_last, claim);
  std::unique_lock lock(mutex_);
  if (!is_kept) stop_ = SweepStop::broken;
  if (!is_dropped && is_last) count(point, attempt);
  if (!is_dropped && !is_last) {
    ++counts_.retried;
    ready_.push_front({.number = point.number, .attempt = attempt_number + 1, .claim = std::move(claim)});
  }
  begin_others(1, lock);
}

void Sweep::block_ended(std::size_t size, BlockResult result, vm::PointClaim claim) {
  result.row.claim = std::move(claim);
  const std::uint64_t ok = result.row.keys.size();
  const double duration_s = result.row.duration_s;
  const bool is_kept = ok == 0 || hooks_.keep_block(std::move(result.row));
  std::unique_lock lock(mutex_);
  if (!is_kept) stop_ = SweepStop::broken;
  counts_.ok += ok;
  for (std::size_t i = result.others.size(); i-- > 0;) ready_.push_front({.number = result.others[i]});
  if (ok != 0) adapt_block_size(duration_s);
  begin_others(size, lock);
}

void Sweep::begin_others(std::size_t ended_points, std::unique_lock<std::mutex>& lock) {
  --running_tasks_;
  counts_.running -= ended_points;
  start_ready(lock);
  if (is_over() || wants_more()) changed_.notify_all();
}

void Sweep::adapt_block_size(double duration_s) {
  if (duration_s < short_block_s) block_size_ = std::min(4 * block_size_, largest_block);
  if (duration_s > long_block_s) block_size_ = std::max<std::size_t>(block_size_ / 2, 1);
}

void Sweep::count(const Point& point, const Attempt& attempt) {
  if (attempt.outcome == vm::PointOutcome::ok) {
    ++counts_.ok;
    return;
  }
  ++counts_.failed;
  failures_.add(point, attempt);
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
    std::unique_lock lock(mutex_);
    if (stop_ == SweepStop::none) stop_ = SweepStop::asked;
    is_ending_ = true;
    changed_.wait(lock, [this] { return starting_ == 0; });  // what starts now is to be ended, too
  }
  runner_.end_all();
  const std::lock_guard lock(mutex_);
  counts_.running = 0;
  running_tasks_ = 0;  // what was asked for but not started is told to nobody
  changed_.notify_all();
}

SweepCounts Sweep::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace raddle::sweep
