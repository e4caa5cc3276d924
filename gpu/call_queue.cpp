#include "gpu/call_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace raddle::gpu {

void CallQueue::push(vm::DeviceCall call) {
  std::size_t bytes = 0;
  for (const vm::AddressedMemory& memory : call.read)
    if (memory.size_bytes < large_bytes) bytes += memory.size_bytes;
  for (const vm::AddressedMemory& memory : call.filled) bytes += memory.size_bytes;
  bool has_waiting = false;
  {
    const std::lock_guard lock(mutex_);
    has_waiting = waiting_ != 0;
    // the last one of its kernel is the only one that may have room
    const auto last = std::find_if(bundles_.rbegin(), bundles_.rend(), [&call](const Bundle& bundle) {
      return bundle.calls.front().kernel == call.kernel;
    });
    const bool has_room =
        last != bundles_.rend() && last->calls.size() < most_calls && last->bytes + bytes <= most_bytes;
    Bundle& bundle = has_room ? *last : bundles_.emplace_back();
    bundle.bytes += bytes;
    bundle.calls.push_back(std::move(call));
  }
  if (has_waiting) changed_.notify_one();
}

std::vector<vm::DeviceCall> CallQueue::take(const std::stop_token& stop, std::size_t most) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  const bool has_calls = changed_.wait(lock, stop, [this] { return !bundles_.empty(); });
  --waiting_;
  if (!has_calls) return {};
  std::deque<vm::DeviceCall>& first = bundles_.front().calls;
  const auto end = first.begin() + static_cast<std::ptrdiff_t>(std::min(most, first.size()));
  std::vector<vm::DeviceCall> calls(std::move_iterator(first.begin()), std::move_iterator(end));
  first.erase(first.begin(), end);
  if (first.empty()) bundles_.pop_front();
  return calls;
}

}  // namespace raddle::gpu
