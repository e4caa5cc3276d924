#include "gpu/call_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace raddle::gpu {

/// That count for the size of a bundle.
std::size_t CallQueue::bytes_of(const vm::DeviceCall& call) {
  std::size_t bytes = 0;
  for (const vm::AddressedMemory& memory : call.read)
    if (memory.size_bytes < large_bytes) bytes += memory.size_bytes;
  for (const vm::AddressedMemory& memory : call.filled) bytes += memory.size_bytes;
  return bytes;
}

void CallQueue::push(vm::DeviceCall call) {
  const std::size_t bytes = bytes_of(call);
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
  if (stop.stop_requested()) {
    if (has_calls) changed_.notify_one();  // others may have been told of them by this thread only
    return {};
  }
  Bundle& first = bundles_.front();
  std::vector<vm::DeviceCall> calls;
  while (calls.size() < most && !first.calls.empty()) {
    first.bytes -= bytes_of(first.calls.front());
    calls.push_back(std::move(first.calls.front()));
    first.calls.pop_front();
  }
  if (first.calls.empty()) bundles_.pop_front();
  return calls;
}

std::vector<vm::DeviceCall> CallQueue::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<vm::DeviceCall> calls;
  for (Bundle& bundle : bundles_) std::ranges::move(bundle.calls, std::back_inserter(calls));
  bundles_.clear();
  return calls;
}

}  // namespace raddle::gpu
