#include "vm/external/thread_supply.hpp"

#include <system_error>

#include "vm/external/signals_blocked.hpp"

namespace raddle::vm {

void ThreadSupply::begin() {
  if (threads_.empty()) start();
}

void ThreadSupply::wake_one() {
  if (looking_ > 0) return;
  if (idle_ > 0) {
    --idle_;
    ++woken_;
    ++looking_;
    return wanted_.notify_one();
  }
  try {
    start();
  } catch (const std::system_error&) {  // the work waits until a thread is free
  }
}

void ThreadSupply::start() {
  Thread& made = threads_.emplace_back();
  try {
    const SignalsBlocked blocked;
    made.thread = std::thread([this, &made] { body_(made); });
  } catch (const std::system_error&) {
    threads_.pop_back();
    throw;
  }
  ++looking_;
}

void ThreadSupply::wait(std::unique_lock<std::mutex>& lock) {
  ++idle_;
  wanted_.wait(lock, [this] { return woken_ > 0 || closing_; });
  if (closing_) return;
  --woken_;
  --looking_;
}

void ThreadSupply::close() {
  closing_ = true;
  wanted_.notify_all();
}

bool ThreadSupply::join() {
  bool have_all_ended = true;
  for (Thread& each : threads_) {
    each.is_lost ? each.thread.detach() : each.thread.join();
    have_all_ended &= !each.is_lost;
  }
  return have_all_ended;
}

}  // namespace raddle::vm
