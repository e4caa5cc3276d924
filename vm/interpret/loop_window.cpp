#include "vm/interpret/loop_window.hpp"

#include <algorithm>

#include "vm/interpret/call_profile.hpp"
#include "vm/schedule/worker_pool.hpp"

namespace raddle::vm {

namespace {

/// Iterations that take longer, as seen from the loop: that they waited does not matter.
constexpr std::int64_t long_ns = 20'000;
constexpr std::int64_t most_open = std::int64_t{1} << 40;

}  // namespace

bool LoopWindow::keep(Task& rest) {
  kept_at_ns_.store(now_ns(), std::memory_order_relaxed);
  ended_.store(0, std::memory_order_relaxed);
  all_.add(*this);
  kept_.store(&rest, std::memory_order_seq_cst);
  if (open_.load(std::memory_order_seq_cst) > base_) return true;
  if (!take()) return true;  // somebody else queues it
  all_.remove(*this);
  return false;
}

Task* LoopWindow::close(std::int64_t points) {
  const std::int64_t open = open_.fetch_sub(1, std::memory_order_seq_cst) - 1;
  if (!kept_.load(std::memory_order_seq_cst)) return nullptr;
  const std::int64_t ended = ended_.fetch_add(points, std::memory_order_relaxed) + points;
  const auto are_long = [&] { return now_ns() - kept_at_ns_.load(std::memory_order_relaxed) > ended * long_ns; };
  const bool goes_on = open <= base_ || (open <= limit_.load(std::memory_order_relaxed) / 2 && are_long());
  if (!goes_on) return nullptr;
  Task* const rest = take();
  if (rest) all_.remove(*this);
  return rest;
}

void LoopWindows::add(LoopWindow& window) {
  const std::lock_guard lock(mutex_);
  window.index_ = kept_.size();
  kept_.push_back(&window);
}

void LoopWindows::remove(LoopWindow& window) {
  const std::lock_guard lock(mutex_);
  kept_[window.index_] = kept_.back();
  kept_[window.index_]->index_ = window.index_;
  kept_.pop_back();
}

bool LoopWindows::go_on() {
  const std::lock_guard lock(mutex_);
  std::vector<LoopWindow*> left;  // loops that are about to be kept, or that somebody has just taken
  std::vector<Task*> taken;
  for (LoopWindow* window : kept_) {
    window->index_ = left.size();
    if (Task* rest = window->take()) {
      const std::int64_t limit = window->limit_.load(std::memory_order_relaxed);
      window->limit_.store(std::min(2 * limit, most_open), std::memory_order_relaxed);
      taken.push_back(rest);
    } else {
      left.push_back(window);
    }
  }
  kept_ = std::move(left);
  for (Task* rest : taken) pool_.inject(*rest);  // from here on a window may be gone
  return !taken.empty();
}

}  // namespace raddle::vm
