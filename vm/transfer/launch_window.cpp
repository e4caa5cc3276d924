#include "vm/transfer/launch_window.hpp"

#include <optional>

namespace raddle::vm {

namespace {

/// The calls that matter for one datum.
struct Uses {
  std::optional<std::uint32_t> writer, first_on_device, first_on_host;
};

std::vector<Uses> uses_of(const LaunchWindow& window) {
  std::vector<Uses> uses(window.is_live_at_end.size());
  for (std::uint32_t slot = 0; slot < window.calls.size(); ++slot) {
    const WindowCall& call = window.calls[slot];
    for (const DataId data : call.reads) {
      auto& first = call.is_on_device ? uses[data].first_on_device : uses[data].first_on_host;
      if (!first) first = slot;
    }
    for (const DataId data : call.writes) uses[data].writer = slot;
  }
  return uses;
}

}  // namespace

Transfers transfers_of(const LaunchWindow& window) {
  const std::vector<Uses> uses = uses_of(window);
  Transfers transfers;
  for (DataId data = 0; data < uses.size(); ++data) {
    const auto& [writer, first_on_device, first_on_host] = uses[data];
    const bool is_on_host = !writer || !window.calls[*writer].is_on_device;
    if (is_on_host) {
      const std::uint32_t earliest = writer ? *writer + 1 : 0;
      if (first_on_device)
        transfers.uploads.push_back({.data = data, .earliest = earliest, .latest = *first_on_device});
      continue;
    }
    const bool is_unread = !first_on_device && !first_on_host;
    const auto end = static_cast<std::uint32_t>(window.calls.size());
    if (first_on_host || is_unread || window.is_live_at_end[data])
      transfers.downloads.push_back({.data = data, .earliest = *writer, .latest = first_on_host.value_or(end) - 1});
  }
  return transfers;
}

}  // namespace raddle::vm
