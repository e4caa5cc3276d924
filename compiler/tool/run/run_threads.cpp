#include "compiler/tool/run/run_threads.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "compiler/tool/run/last_end.hpp"
#include "vm/value/unix_time.hpp"

namespace raddle::tool {

namespace {

using Clock = RunThreads::Clock;

constexpr auto thread_wait = std::chrono::milliseconds(100);  // until a thread is tried once more

Clock::time_point after(Clock::time_point begin, double seconds) {
  constexpr double longest_s = 1e9;  // more does not fit into a clock's time
  return begin +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, longest_s)));
}

}  // namespace

RunThreads::Active::Active(std::uint32_t worker) : worker(worker), started(vm::unix_time()) {}

RunThreads::RunThreads(unsigned jobs, double timeout_s) : timeout_s_(timeout_s) {
  const std::lock_guard lock(mutex_);
  if (jobs > 0) add_worker(1);
  try {
    if (timeout_s > 0) threads_.emplace_back([this] { watch(); });
  } catch (...) {
    is_closing_ = true;
    arrived_.notify_all();
    throw;
  }
  try {
    for (std::uint32_t worker = 2; worker <= jobs; ++worker) add_worker(worker);
  } catch (const std::system_error&) {  // what it has not begun waits for those that there are
  }
}

RunThreads::~RunThreads() {
  end_all();
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  arrived_.notify_all();
  changed_.notify_all();
}

void RunThreads::begin(Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ended_) return;
    waiting_.push_back(std::move(task));
  }
  arrived_.notify_one();
}

bool RunThreads::may_tell(Active& active) {
  const std::lock_guard lock(mutex_);
  active.is_told = !active.is_lost;
  return active.is_told;
}

bool RunThreads::is_late(const Active& active) {
  const std::lock_guard lock(mutex_);
  return active.is_late;
}

bool RunThreads::has_lost() {
  const std::lock_guard lock(mutex_);
  return !lost_.empty();
}

void RunThreads::end_all() {
  std::unique_lock lock(mutex_);
  is_ended_ = true;
  waiting_.clear();
  for (Active& each : active_) each.deadline = Clock::time_point::min();
  for (;;) {
    auto next = Clock::time_point::max();
    static_cast<void>(take_lost(next));
    if (active_.empty() && !is_telling_) return;
    wait(lock, next);
  }
}

void RunThreads::add_worker(std::uint32_t worker) {
  threads_.emplace_back([this, worker] { work(worker); });
}

void RunThreads::work(std::uint32_t worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return is_closing_ || !waiting_.empty(); });
    if (is_closing_) return;
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    const auto active = active_.emplace(active_.end(), worker);
    active->deadline = timeout_s_ > 0 ? after(active->begin, timeout_s_) : Clock::time_point::max();
    active->tell_lost = std::move(task.tell_lost);
    if (timeout_s_ > 0) changed_.notify_all();
    lock.unlock();
    task.run(*active);
    lock.lock();
    const bool was_lost = active->is_lost;
    (was_lost ? lost_ : active_).erase(active);
    if (is_ended_) changed_.notify_all();
    if (was_lost && std::erase(missing_, worker) == 0) return;  // another thread has taken its place
  }
}

/// @return false if threads are missing that can not be started now
bool RunThreads::replace_lost() {
  try {
    for (; !missing_.empty(); missing_.pop_back()) add_worker(missing_.back());
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

/// Cancels a run whose time is up. @return when to look at it again; a time that has come: it is lost
Clock::time_point RunThreads::look_after(Active& active, Clock::time_point now) {
  if (active.is_told) return Clock::time_point::max();
  if (!active.cancelled && active.deadline <= now) {
    active.is_late = true;
    active.cancelled = now;
    active.cancel.cancel();
  }
  if (!active.cancelled) return active.deadline;
  return after(*active.cancelled, active.cancel.has_come_to_rest() ? longest_ending_s : longest_task_s);
}

/// @param next  gets when to call it again, if that is earlier
std::vector<RunThreads::Lost> RunThreads::take_lost(Clock::time_point& next) {
  const Clock::time_point now = Clock::now();
  std::vector<Lost> lost;
  for (auto each = active_.begin(); each != active_.end();) {
    const auto active = each++;
    const Clock::time_point due = look_after(*active, now);
    if (due > now) {
      next = std::min(next, due);
      continue;
    }
    active->is_lost = true;
    active->cancel.give_up();
    vm::Attempt attempt;
    attempt.outcome = vm::PointOutcome::timeout;
    attempt.started = active->started;
    attempt.worker = active->worker;
    attempt.duration_s = std::chrono::duration<double>(now - active->begin).count();
    attempt.detail = "ended by --timeout, without a function that does not come back";
    lost.push_back({std::move(active->tell_lost), std::move(attempt)});
    missing_.push_back(active->worker);
    lost_.splice(lost_.end(), active_, active);
  }
  return lost;
}

void RunThreads::wait(std::unique_lock<std::mutex>& lock, Clock::time_point until) {
  if (until == Clock::time_point::max()) return changed_.wait(lock);
  changed_.wait_until(lock, until);
}

void RunThreads::watch() {
  std::unique_lock lock(mutex_);
  while (!is_closing_) {
    auto next = Clock::time_point::max();
    std::vector<Lost> lost = take_lost(next);
    if (is_ended_) lost.clear();
    if (!is_ended_ && !replace_lost()) next = std::min(next, Clock::now() + thread_wait);
    if (lost.empty()) {
      wait(lock, next);
      continue;
    }
    is_telling_ = true;
    lock.unlock();
    for (Lost& each : lost) each.tell(std::move(each.attempt));
    lock.lock();
    is_telling_ = false;
    changed_.notify_all();
  }
}

}  // namespace raddle::tool
