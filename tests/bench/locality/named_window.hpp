#pragma once
// Windows of launches whose data have names.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "vm/transfer/launch_window.hpp"

namespace raddle::locality {

struct NamedCall {
  bool is_on_device;
  std::vector<std::string> reads, writes;
};

/// @param names  of all data, as they are to be numbered; empty: first those that are not written, then the others, as
///               they appear
inline vm::LaunchWindow window_of(const std::vector<NamedCall>& calls, const std::vector<std::string>& live = {},
                                  std::vector<std::string> names = {}) {
  if (names.empty()) {
    std::vector<std::string> seen, written;
    const auto note = [](std::vector<std::string>& list, const std::string& name) {
      if (std::ranges::find(list, name) == list.end()) list.push_back(name);
    };
    for (const NamedCall& call : calls) {
      for (const std::string& name : call.reads) note(seen, name);
      for (const std::string& name : call.writes) note(seen, name), note(written, name);
    }
    names = seen;
    std::ranges::stable_partition(
        names, [&](const std::string& name) { return std::ranges::find(written, name) == written.end(); });
  }
  std::map<std::string, vm::DataId> ids;
  for (const std::string& name : names) ids.emplace(name, static_cast<vm::DataId>(ids.size()));
  vm::LaunchWindow window{.calls = {}, .is_live_at_end = std::vector<bool>(ids.size())};
  for (const std::string& name : live) window.is_live_at_end[ids.at(name)] = true;
  for (const NamedCall& call : calls) {
    vm::WindowCall& added = window.calls.emplace_back();
    added.is_on_device = call.is_on_device;
    for (const std::string& name : call.reads) added.reads.push_back(ids.at(name));
    for (const std::string& name : call.writes) added.writes.push_back(ids.at(name));
  }
  return window;
}

}  // namespace raddle::locality
