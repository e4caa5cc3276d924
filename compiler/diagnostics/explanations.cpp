#include "compiler/diagnostics/explanations.hpp"

#include <algorithm>
#include <vector>

#include "compiler/diagnostics/explanations_source.hpp"

namespace raddle {

namespace {

std::string_view without_blank_ends(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  return text.substr(begin, text.find_last_not_of('\n') + 1 - begin);
}

/// A section is `## CODE: summary` and what follows, up to the next heading. Scripts hold no line that begins so: a
/// test compares the codes with the list of kinds.
std::vector<Explanation> read_sections(std::string_view page) {
  constexpr std::string_view mark = "\n## ";
  std::vector<Explanation> sections;
  for (std::size_t at = page.find(mark); at != std::string_view::npos;) {
    const std::size_t begin = at + mark.size();
    at = page.find(mark, begin);
    const std::string_view section = page.substr(begin, at == std::string_view::npos ? at : at - begin);
    const std::string_view heading = section.substr(0, section.find('\n'));
    const std::size_t colon = heading.find(": ");
    sections.push_back(
        {heading.substr(0, colon), heading.substr(colon + 2), without_blank_ends(section.substr(heading.size()))});
  }
  return sections;
}

}  // namespace

std::span<const Explanation> explanations() {
  static const std::vector<Explanation> all = read_sections(explanations_source());
  return all;
}

const Explanation* find_explanation(std::string_view code) {
  const std::span<const Explanation> all = explanations();
  const auto found = std::ranges::find(all, code, &Explanation::code);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace raddle
