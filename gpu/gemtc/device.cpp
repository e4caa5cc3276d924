#include "gpu/gemtc/device.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace raddle::gpu {

namespace {

constexpr std::int64_t longest_wait_ns = std::int64_t{1} << 60;  ///< what lies further off a clock may not know

}  // namespace

GemtcDevice::GemtcDevice(const gemtc_options& options, std::unique_ptr<GemtcPlace> place)
    : kernel_count_(options.kernel_count), task_limit_(options.task_limit), place_(std::move(place)) {
  arena_.add({place_->memory(), Arena::rounded(options.memory_bytes)});
}

GemtcDevice::~GemtcDevice() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_.empty(); });
}

gemtc_code GemtcDevice::allocate(std::size_t bytes, void*& address) {
  const std::lock_guard lock(memory_mutex_);
  Arena::Block* const block = arena_.take(bytes);
  if (block == nullptr) return GEMTC_NO_MEMORY;
  try {
    blocks_[block->address] = {block, bytes};
  } catch (...) {
    arena_.give_back(block);
    throw;
  }
  address = reinterpret_cast<void*>(block->address);
  return GEMTC_OK;
}

gemtc_code GemtcDevice::free(void* address) {
  const std::lock_guard lock(memory_mutex_);
  const auto found = blocks_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == blocks_.end()) return GEMTC_OUTSIDE;
  arena_.give_back(found->second.block);
  blocks_.erase(found);
  return GEMTC_OK;
}

bool GemtcDevice::has(const void* address, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uint64_t>(address);
  const std::lock_guard lock(memory_mutex_);
  const auto above = blocks_.upper_bound(first);
  if (above == blocks_.begin()) return false;
  const auto& [begin, block] = *std::prev(above);
  const std::uint64_t offset = first - begin;
  return offset < block.bytes && bytes <= block.bytes - offset;
}

gemtc_code GemtcDevice::push(std::uint32_t kernel, std::int64_t threads, std::uint64_t id, void* parameters) {
  std::list<Task> made(1);
  Task& task = made.front();
  task.kernel = kernel;
  task.threads = threads;
  task.result = {.id = id, .parameters = parameters, .status = 0, .failed_thread = -1};
  {
    const std::lock_guard lock(mutex_);
    if (under_way_.size() + ended_.size() >= task_limit_) return GEMTC_FULL;
    under_way_.splice(under_way_.end(), made);
    task.self = std::prev(under_way_.end());
  }
  try {
    place_->submit(task, [this, &task] { end(task); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    under_way_.erase(task.self);
    throw;
  }
  return GEMTC_OK;
}

/// The place is done with it.
void GemtcDevice::end(Task& task) {
  const std::lock_guard lock(mutex_);
  ended_.splice(ended_.end(), under_way_, task.self);
  if (waiting_ != 0 || under_way_.empty()) changed_.notify_all();
}

gemtc_code GemtcDevice::poll(std::int64_t wait_ns, gemtc_result& result) {
  std::list<Task> taken;
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return !ended_.empty() || under_way_.empty(); };
  if (wait_ns != 0 && !is_over()) {
    ++waiting_;
    if (wait_ns < 0)
      changed_.wait(lock, is_over);
    else
      changed_.wait_for(lock, std::chrono::nanoseconds(std::min(wait_ns, longest_wait_ns)), is_over);
    --waiting_;
  }
  if (ended_.empty()) return GEMTC_NOTHING;
  taken.splice(taken.end(), ended_, ended_.begin());
  lock.unlock();
  result = taken.front().result;
  return GEMTC_OK;
}

}  // namespace raddle::gpu
