#include "vm/program/index_launch.hpp"

#include <algorithm>
#include <span>

namespace raddle::vm {

bool IndexLaunch::has_rows() const {
  return std::ranges::find(sinks, LaunchSink::Kind::row, &LaunchSink::kind) != sinks.end();
}

bool IndexLaunch::has_streams(std::int64_t step, bool same) const {
  const auto is_same = [](const LaunchKey& key) { return key.is_affine() && key.stride == 0; };
  const auto follows = [step](const LaunchKey& key) { return key.is_affine() && key.stride == 1 && step == 1; };
  const auto is_fine = [&](std::uint32_t first, std::uint32_t count, bool may_be_same) {
    const std::span own(keys.data() + first, count);
    return std::ranges::all_of(own.first(count - 1), is_same) &&
           (follows(own.back()) || (may_be_same && is_same(own.back())));
  };
  return is_projected() &&
         std::ranges::all_of(reads,
                             [&](const LaunchRead& read) { return is_fine(read.first_key, read.key_count, same); }) &&
         std::ranges::all_of(sinks, [&](const LaunchSink& sink) {
           return sink.is_fixed() && (sink.key_count == 0 ? step == 1 : is_fine(sink.first_key, sink.key_count, false));
         });
}

}  // namespace raddle::vm
