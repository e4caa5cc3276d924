#include "compiler/driver/line_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace raddle::driver {

namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t context = 3;  ///< equal lines shown around a change

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// One line of the result: `kind` is ' ', '-' or '+'.
struct Edit {
  char kind;
  std::string_view line;
};

/// The fewest insertions and deletions from `before` to `after`, by Myers' greedy algorithm: for each number of edits
/// how far one comes on each diagonal.
std::vector<Edit> edits_between(const Lines& before, const Lines& after) {
  const auto n = static_cast<std::ptrdiff_t>(before.size());
  const auto m = static_cast<std::ptrdiff_t>(after.size());
  const std::ptrdiff_t middle = n + m + 1;
  std::vector<std::ptrdiff_t> reach(static_cast<std::size_t>(2 * middle + 1), 0);  // x by diagonal k = x - y
  std::vector<std::vector<std::ptrdiff_t>> history;                                // reach[-d..d] before each round
  const auto at = [&](std::ptrdiff_t k) -> std::ptrdiff_t& { return reach[static_cast<std::size_t>(middle + k)]; };
  const auto goes_down = [&](std::ptrdiff_t k, std::ptrdiff_t d) {
    return k == -d || (k != d && at(k - 1) < at(k + 1));
  };
  for (std::ptrdiff_t d = 0;; ++d) {
    history.emplace_back(reach.begin() + (middle - d), reach.begin() + (middle + d + 1));
    bool arrived = false;
    for (std::ptrdiff_t k = -d; k <= d && !arrived; k += 2) {
      std::ptrdiff_t x = d == 0 ? 0 : goes_down(k, d) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(x - k)]) ++x;
      at(k) = x;
      arrived = x >= n && x - k >= m;
    }
    if (arrived) break;
  }
  std::vector<Edit> edits;
  std::ptrdiff_t x = n, y = m;
  for (auto d = static_cast<std::ptrdiff_t>(history.size()) - 1; d >= 0; --d) {
    const std::vector<std::ptrdiff_t>& past = history[static_cast<std::size_t>(d)];
    const auto reached = [&](std::ptrdiff_t k) { return past[static_cast<std::size_t>(k + d)]; };
    const std::ptrdiff_t k = x - y;
    const bool down = d > 0 && (k == -d || (k != d && reached(k - 1) < reached(k + 1)));
    const std::ptrdiff_t from = d == 0 ? 0 : down ? reached(k + 1) : reached(k - 1);
    const std::ptrdiff_t begin = d == 0 ? 0 : down ? from : from + 1;  // x where the equal lines begin
    for (; x > begin; --x, --y) edits.push_back({' ', before[static_cast<std::size_t>(x - 1)]});
    if (d == 0) break;
    if (down)
      edits.push_back({'+', after[static_cast<std::size_t>(--y)]});
    else
      edits.push_back({'-', before[static_cast<std::size_t>(--x)]});
  }
  std::ranges::reverse(edits);
  return edits;
}

/// Behind the edits from `first` on that are shown together: changes less than two contexts apart.
std::size_t end_of_hunk(const std::vector<Edit>& edits, std::size_t first) {
  std::size_t last = first;
  for (std::size_t i = first; i < edits.size() && i <= last + 2 * context; ++i)
    if (edits[i].kind != ' ') last = i;
  return std::min(last + context + 1, edits.size());
}

}  // namespace

std::string line_difference(const std::string& name, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Edit> edits = edits_between(lines_of(before), lines_of(after));
  std::string out = fmt::format("--- {0}\n+++ {0} (formatted)\n", name);
  std::size_t old_line = 1, new_line = 1;  // of the edit `at`
  for (std::size_t at = 0; at < edits.size();) {
    const auto change = std::find_if(edits.begin() + static_cast<std::ptrdiff_t>(at), edits.end(),
                                     [](const Edit& edit) { return edit.kind != ' '; });
    if (change == edits.end()) break;
    const auto first_change = static_cast<std::size_t>(change - edits.begin());
    const std::size_t first = first_change - std::min(context, first_change - at);
    const std::size_t last = end_of_hunk(edits, first_change);
    old_line += first - at;
    new_line += first - at;
    const auto count = [&](char other) {
      return std::count_if(edits.begin() + static_cast<std::ptrdiff_t>(first),
                           edits.begin() + static_cast<std::ptrdiff_t>(last),
                           [&](const Edit& edit) { return edit.kind != other; });
    };
    const std::ptrdiff_t old_count = count('+'), new_count = count('-');
    out += fmt::format("@@ -{},{} +{},{} @@\n", old_line - (old_count == 0 ? 1 : 0), old_count,
                       new_line - (new_count == 0 ? 1 : 0), new_count);
    for (at = first; at < last; ++at) {
      out += edits[at].kind;
      out += edits[at].line;
      if (!edits[at].line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
    }
    old_line += static_cast<std::size_t>(old_count);
    new_line += static_cast<std::size_t>(new_count);
  }
  return out;
}

}  // namespace raddle::driver
