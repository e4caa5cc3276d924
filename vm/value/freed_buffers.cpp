#include "vm/value/freed_buffers.hpp"

#include <algorithm>
#include <utility>

namespace raddle::vm {

namespace {

struct Hearers {
  std::mutex mutex;
  std::vector<FreedBuffers*> all;     ///< guarded by it
  std::atomic<std::size_t> count{0};  ///< a hint for who frees: who begins to hear knows no buffer yet
};

/// Never destroyed: buffers may be freed while the process ends.
Hearers& hearers() {
  static auto* const all = new Hearers;
  return *all;
}

}  // namespace

FreedBuffers::FreedBuffers() {
  const std::lock_guard lock(hearers().mutex);
  hearers().all.push_back(this);
  hearers().count.store(hearers().all.size(), std::memory_order_relaxed);
}

FreedBuffers::~FreedBuffers() {
  const std::lock_guard lock(hearers().mutex);
  std::erase(hearers().all, this);
  hearers().count.store(hearers().all.size(), std::memory_order_relaxed);
}

std::vector<std::uint64_t> FreedBuffers::take() {
  if (!has_some_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock(mutex_);
  has_some_.store(false, std::memory_order_relaxed);
  return std::exchange(numbers_, {});
}

void FreedBuffers::tell(std::uint64_t number) {
  if (hearers().count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(hearers().mutex);
  for (FreedBuffers* const hearer : hearers().all) {
    const std::lock_guard lock_of_hearer(hearer->mutex_);
    hearer->numbers_.push_back(number);
    hearer->has_some_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace raddle::vm
