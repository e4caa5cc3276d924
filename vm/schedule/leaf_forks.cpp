#include "vm/schedule/leaf_forks.hpp"

#include "vm/schedule/leaf_rooms.hpp"
#include "vm/schedule/stack_limit.hpp"

namespace raddle::vm {

namespace {

constexpr std::int32_t always_some = 1;

/// A call that is shared may be a small one, and waking a worker for it costs 19 us. So calls are shared no more often
/// than this: what is lost if it was for nothing stays a small part.
constexpr std::chrono::microseconds sharing_interval(50);

}  // namespace

// ---------------------------------------------------------------- ForkTask

std::int32_t ForkTask::run_here(raddle_leaf_worker& worker, raddle_leaf_failure& failure) {
  return site_.code(&worker, words_, words_ + site_.argument_words, &failure);
}

void ForkTask::run(Worker& worker) {
  raddle_leaf_failure failure;
  failure.call_count = 0;
  status_ = run_here(worker.leaf_worker(), failure);
  if (status_ != raddle_leaf_ok) failure_ = std::make_unique<raddle_leaf_failure>(failure);
  ended_.store(true, std::memory_order_release);
}

std::int32_t ForkTask::outcome(raddle_leaf_failure* failure) const {
  if (failure && failure_) *failure = *failure_;
  return status_;
}

// ---------------------------------------------------------------- LeafForks

LeafForks::LeafForks(Worker& worker, const std::atomic<std::int32_t>& idle_workers, Inlining inlining)
    : raddle_leaf_worker{}, worker_(worker), inlining_(inlining), newest_shared_(&first_) {
  static_assert(sizeof idle_workers == sizeof always_some && std::atomic<std::int32_t>::is_always_lock_free);
  const bool always_asks = inlining == Inlining::never || worker.perturbation().is_on();
  this->idle_workers = always_asks ? &always_some : reinterpret_cast<const std::int32_t*>(&idle_workers);
  newest = &first_;
  share = [](raddle_leaf_worker* self) { static_cast<LeafForks*>(self)->share_oldest(); };
  join = [](raddle_leaf_worker* self, raddle_leaf_fork* fork, raddle_leaf_failure* failure) {
    return static_cast<LeafForks*>(self)->end(*fork, failure);
  };
  take_room = take_leaf_room;
  leave_rooms = leave_leaf_rooms;
}

bool LeafForks::is_due() {
  if (inlining_ == Inlining::never) return true;
  if (worker_.perturbation().is_on()) return worker_.perturbation().one_in(4);
  if (!shared_.is_empty()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_shared_at_ < sharing_interval) return false;
  last_shared_at_ = now;
  return true;
}

void LeafForks::share_oldest() {
  while (newest_shared_ != newest && is_due()) {
    newest_shared_ = newest_shared_->newer;
    ForkTask& task = tasks_.emplace_back(*newest_shared_);
    newest_shared_->task = &task;
    ++shared_count_;
    shared_.push(&task);
    worker_.announce_work();
  }
}

std::int32_t LeafForks::end(raddle_leaf_fork& fork, raddle_leaf_failure* failure) {
  newest = fork.older;
  if (!fork.task) return raddle_leaf_ok;  // not wanted
  newest_shared_ = fork.older;
  auto* task = static_cast<ForkTask*>(fork.task);
  std::int32_t status = raddle_leaf_ok;
  if (shared_.take()) {  // the youngest, which is this one: younger ones have been joined before
    if (failure) status = task->run_here(*this, *failure);
  } else {
    worker_.wait_for(*task);
    status = task->outcome(failure);
  }
  tasks_.pop_back();
  return status;
}

}  // namespace raddle::vm
