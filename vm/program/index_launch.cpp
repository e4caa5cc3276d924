#include "vm/program/index_launch.hpp"

#include <algorithm>
#include <span>

namespace raddle::vm {

bool IndexLaunch::has_rows() const {
  return std::ranges::find(sinks, LaunchSink::Kind::row, &LaunchSink::kind) != sinks.end();
}

namespace {

bool is_same(const LaunchKey& key) { return key.is_affine() && key.stride == 0; }

/// The keys lead to elements of one row, which follow each other.
bool follow(std::span<const LaunchKey> keys, std::int64_t step, bool may_be_same) {
  const LaunchKey& last = keys.back();
  return std::ranges::all_of(keys.first(keys.size() - 1), is_same) && last.is_affine() &&
         ((last.stride == 1 && step == 1) || (last.stride == 0 && may_be_same));
}

}  // namespace

bool IndexLaunch::reads_follow(std::int64_t step, bool same) const {
  return is_projected() && std::ranges::all_of(reads, [&](const LaunchRead& read) {
           return follow(std::span(keys).subspan(read.first_key, read.key_count), step, same);
         });
}

bool IndexLaunch::has_streams(std::int64_t step, bool same) const {
  return reads_follow(step, same) && std::ranges::all_of(sinks, [&](const LaunchSink& sink) {
           if (sink.key_count == 0) return step == 1;
           return sink.is_fixed() && follow(std::span(keys).subspan(sink.first_key, sink.key_count), step, false);
         });
}

bool IndexLaunch::has_spread_streams(std::int64_t step) const {
  return reads_follow(step, /*same=*/true) && std::ranges::all_of(sinks, [&](const LaunchSink& sink) {
           return sink.is_fixed() && (sink.key_count == 0 || keys[sink.first_key].is_affine());
         });
}

}  // namespace raddle::vm
