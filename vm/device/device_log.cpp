#include "vm/device/device_log.hpp"

#include <algorithm>
#include <utility>

namespace raddle::vm {

void DeviceLog::add(const DeviceSpan& span) {
  const std::lock_guard lock(mutex_);
  put({span, span.duration_ns});
  if (kept_.size() > most_) join();
}

/// @pre the mutex is held, as below
void DeviceLog::put(const Kept& kept) {
  const DeviceSpan& span = kept.span;
  const Key key = part_ns_ == 0 ? Key(span.device, span.lane, span.start_ns, span.duration_ns, span.place)
                                : Key(span.device, span.lane, span.start_ns / part_ns_, 0, Place{});
  const auto [found, is_new] = kept_.try_emplace(key, kept);
  if (is_new) return;
  Kept& one = found->second;
  const std::int64_t end_ns = std::max(one.span.start_ns + one.span.duration_ns, span.start_ns + span.duration_ns);
  one.span.start_ns = std::min(one.span.start_ns, span.start_ns);
  one.span.duration_ns = end_ns - one.span.start_ns;
  one.span.computed += span.computed;
  one.span.bytes += span.bytes;
  one.span.held = std::max(one.span.held, span.held);
  if (kept.longest_ns > one.longest_ns) {
    one.longest_ns = kept.longest_ns;
    one.span.function = span.function;
    one.span.place = span.place;
  }
}

void DeviceLog::join() {
  const auto [first, last] =
      std::ranges::minmax_element(kept_, {}, [](const auto& each) { return each.second.span.start_ns; });
  const std::int64_t passed_ns = last->second.span.start_ns - first->second.span.start_ns;
  part_ns_ = std::max(part_ns_, passed_ns / static_cast<std::int64_t>(most_));
  do {
    part_ns_ = 2 * part_ns_ + 1;
    for (const auto& [key, kept] : std::exchange(kept_, {})) put(kept);
  } while (kept_.size() > most_ / 2);
}

std::vector<DeviceSpan> DeviceLog::spans() const {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceSpan> all;
  for (const auto& [key, kept] : kept_) all.push_back(kept.span);
  std::ranges::stable_sort(all, {},
                           [](const DeviceSpan& span) { return std::tuple(span.device, span.lane, span.start_ns); });
  return all;
}

}  // namespace raddle::vm
