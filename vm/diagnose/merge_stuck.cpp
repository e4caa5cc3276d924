#include "vm/diagnose/merge_stuck.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace raddle::vm {

std::vector<StuckVariable> merge_variables(std::vector<StuckVariable> all) {
  std::vector<StuckVariable> result;
  std::map<std::tuple<std::string, Place, bool, bool, std::vector<Place>>, std::size_t> known;
  for (StuckVariable& each : all) {
    const auto key = std::tuple(each.name, each.declared, each.is_unclosed, each.element.empty(), each.calls);
    const auto [at, is_new] = known.try_emplace(key, result.size());
    if (is_new) {
      result.push_back(std::move(each));
      continue;
    }
    result[at->second].element_count += each.element_count;
    for (const Place place : each.awaited) {
      std::vector<Place>& places = result[at->second].awaited;
      if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
  }
  return result;
}

std::vector<StuckVariable> merge_cycles(std::vector<StuckVariable> all) {
  std::vector<StuckVariable> result;
  std::map<std::pair<Place, std::set<Place>>, std::size_t> known;
  for (StuckVariable& each : all) {
    std::set<Place> places;
    for (const CycleStep& step : each.cycle) places.insert(step.place);
    const auto [at, is_new] = known.try_emplace(std::pair(each.declared, std::move(places)), result.size());
    if (is_new) result.push_back(std::move(each));
    ++result[at->second].cycle_count;
  }
  return result;
}

}  // namespace raddle::vm
