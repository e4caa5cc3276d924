#include "vm/external/shell_command.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "vm/value/shown_text.hpp"

namespace raddle::vm {

namespace {

/// Means itself in an argument. `x=1` would be an assignment as the first word only; no program has such a name.
bool is_plain(char sign) {
  constexpr std::string_view others = "%+,-./:=@_";
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') || (sign >= '0' && sign <= '9') ||
         static_cast<unsigned char>(sign) >= 0x80 || others.find(sign) != std::string_view::npos;
}

bool is_control(char sign) { return static_cast<unsigned char>(sign) < 0x20 || sign == 0x7f; }

std::string with_escapes(std::string_view word) {
  const bool is_text = valid_text(word) == word;
  std::string text = "$'";
  for (const char sign : word) {
    if (sign == '\n') {
      text += "\\n";
    } else if (sign == '\t') {
      text += "\\t";
    } else if (is_control(sign) || (!is_text && static_cast<unsigned char>(sign) >= 0x80)) {
      text += fmt::format("\\{:03o}", static_cast<unsigned char>(sign));
    } else {
      if (sign == '\'' || sign == '\\') text += '\\';
      text += sign;
    }
  }
  return text + "'";
}

/// Of a very long word its beginning, cut between two characters.
std::string shortened(std::string_view word, std::size_t longest) {
  if (word.size() <= longest) return shell_word(word);
  std::size_t kept = longest;
  while (kept > 0 && (static_cast<unsigned char>(word[kept]) & 0xC0) == 0x80) --kept;
  return fmt::format("{}... ({} more bytes)", shell_word(word.substr(0, kept)), word.size() - kept);
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (std::ranges::any_of(word, is_control) || valid_text(word) != word) return with_escapes(word);
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string text = "'";
  for (const char sign : word) {
    if (sign == '\'')
      text += "'\\''";
    else
      text += sign;
  }
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) (line += line.empty() ? "" : " ") += shell_word(word);
  return line;
}

std::string shell_command(const ProcessRequest& request, std::size_t longest) {
  std::string line;
  for (std::size_t i = 0; i < request.words.size(); ++i) {
    if (line.size() > longest) {
      line += fmt::format(" ... ({} more words)", request.words.size() - i);
      break;
    }
    if (i != 0) line += ' ';
    line += shortened(request.words[i], longest / 2);
  }
  if (!request.stdin_path.empty()) line += " < " + shell_word(request.stdin_path);
  if (!request.stdout_path.empty()) line += " > " + shell_word(request.stdout_path);
  if (!request.stderr_path.empty()) {
    line += request.stderr_path == request.stdout_path ? " 2>&1" : " 2> " + shell_word(request.stderr_path);
  }
  return line;
}

}  // namespace raddle::vm
