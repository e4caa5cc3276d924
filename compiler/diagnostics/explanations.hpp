#pragma once
// What each diagnostic means, at length: the sections of explanations.md, which is built into the tool.
#include <span>
#include <string_view>

namespace raddle {

/// One section of explanations.md.
struct Explanation {
  std::string_view code;     ///< name of the DiagnosticKind
  std::string_view summary;  ///< what is wrong, in a line
  std::string_view text;     ///< Markdown: paragraphs and fenced scripts, no blank line at either end
};

/// All of them, in the order of the page.
std::span<const Explanation> explanations();

/// @return nullptr if no diagnostic has this code
const Explanation* find_explanation(std::string_view code);

}  // namespace raddle
