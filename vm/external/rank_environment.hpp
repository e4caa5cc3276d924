#pragma once
// What programs and interpreters of other languages find in their environment about the rank that has started them.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace raddle::vm {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// All ranks are of one host, whose first rank leads it.
/// @param set_by_rank  what each rank has set for itself; may be shorter
inline Variables rank_environment(std::int32_t rank, const std::vector<Variables>& set_by_rank) {
  const std::string text = std::to_string(rank);
  Variables all = {{"ADLB_RANK_SELF", text}, {"ADLB_RANK_OFFSET", text}, {"ADLB_RANK_LEADER", "0"}};
  const auto index = static_cast<std::size_t>(rank);
  if (index < set_by_rank.size()) all.insert(all.end(), set_by_rank[index].begin(), set_by_rank[index].end());
  return all;
}

}  // namespace raddle::vm
