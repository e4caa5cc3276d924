#include "compiler/tool/formats/line_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace raddle::tool {

namespace {

constexpr std::size_t context = 3;  ///< equal lines shown around a change

struct Line {
  std::string_view text;  ///< with its newline
  std::size_t passed;     ///< characters before it in the whole text, blanks not counted
  bool blank;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t passed = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        line, [](char c) { return std::string_view(" \t\r\n\f\v").find(c) == std::string_view::npos; }));
    lines.push_back({line, passed, count == 0});
    passed += count;
    text.remove_prefix(line.size());
  }
  return lines;
}

/// One line of the result: `kind` is ' ', '-' or '+'.
struct Edit {
  char kind;
  std::string_view line;
};

/// Lines are the same if they are equal and begin at the same character, blanks not counted.
std::vector<Edit> edits_between(const std::vector<Line>& before, const std::vector<Line>& after) {
  std::vector<Edit> edits, added;  // what was added is shown behind what it stands for
  const auto show_added = [&] {
    edits.insert(edits.end(), added.begin(), added.end());
    added.clear();
  };
  std::size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    const bool both = i < before.size() && j < after.size();
    if (both && before[i].passed == after[j].passed && before[i].text == after[j].text) {
      show_added();
      edits.push_back({' ', before[i].text});
      ++i, ++j;
      continue;
    }
    const bool tie = both && before[i].passed == after[j].passed;
    // where a blank line meets another one, only the blank one is taken
    const bool old_first = both && (before[i].passed < after[j].passed || (tie && before[i].blank >= after[j].blank));
    const bool new_first = both && (before[i].passed > after[j].passed || (tie && after[j].blank >= before[i].blank));
    if (both ? old_first : i < before.size()) edits.push_back({'-', before[i++].text});
    if (both ? new_first : j < after.size()) added.push_back({'+', after[j++].text});
  }
  show_added();
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

}  // namespace raddle::tool
