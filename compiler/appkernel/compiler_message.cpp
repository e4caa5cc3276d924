#include "compiler/appkernel/compiler_message.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "compiler/appkernel/call_text.hpp"

namespace raddle::appkernel {
namespace {

constexpr std::string_view error_word = "error: ";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// "; did you mean 'scale'?", or nothing.
std::string_view offer_of(std::string_view line) {
  const std::size_t at = line.find("; did you mean");
  return at == std::string_view::npos ? std::string_view() : line.substr(at);
}

/// Of a line with an error of our call: all other names in it are declared.
bool is_unknown_name(std::string_view line) {
  return line.starts_with(call_place) && (line.find("use of undeclared identifier") != std::string_view::npos ||
                                          line.find("no member named") != std::string_view::npos);
}

/// Of a line with an error: the text of our own assertion about how the kernel is called; "": it is none.
std::string_view refused_call(std::string_view line) {
  const std::size_t at = line.find("': ");
  if (!line.starts_with(call_place) || line.find("static assertion failed") == std::string_view::npos ||
      at == std::string_view::npos)
    return "";
  return line.substr(at + 3);
}

bool names_place(std::string_view line) { return line.starts_with("In file included from "); }
bool is_count(std::string_view line) { return line.ends_with(" generated."); }

}  // namespace

std::string compiler_message(const std::string& text, const CompiledFile& file) {
  constexpr int most_lines = 12;
  std::istringstream lines(text);
  std::string shown;
  int count = 0;
  for (std::string line; count < most_lines && std::getline(lines, line);) {
    replace_all(line, file.absolute, file.written);
    replace_all(line, file.folder + "/", "");
    if (names_place(line) || is_count(line)) continue;
    if (count == 0 && is_unknown_name(line))
      return fmt::format("`{}` has no function `{}`{}", file.written, file.kernel, offer_of(line));
    if (const std::string_view refused = refused_call(line); count == 0 && !refused.empty())
      return fmt::format("can not call `{}` of `{}`: {}", file.kernel, file.written, refused);
    shown += (count++ == 0 ? "" : "\n") + line;
  }
  return fmt::format("can not compile `{}`:\n{}", file.written, shown);
}

std::string line_with_fault(const std::string& message) {
  std::istringstream lines(message);
  std::string first, line;
  std::getline(lines, first);
  while (std::getline(lines, line))
    if (line.find(error_word) != std::string::npos) return line;
  return first;
}

}  // namespace raddle::appkernel
