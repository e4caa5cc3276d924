#include "stdlib/native/pattern.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <array>
#include <cctype>
#include <utility>

namespace raddle::stdlib::native {
namespace {

// What `\` and `letter` mean in Tcl, in the words of POSIX; `in_brackets`: within [...]. Others stay as they are.
std::string escape(char letter, bool in_brackets) {
  switch (letter) {
    case 'd': return in_brackets ? "0-9" : "[0-9]";
    case 'D': return "[^0-9]";
    case 'w': return in_brackets ? "[:alnum:]_" : "\\w";
    case 's': return in_brackets ? "[:space:]" : "\\s";
    case 'm': return "\\<";
    case 'M': return "\\>";
    case 'y': return "\\b";
    case 'A': return "^";
    case 'Z': return "$";
    case 'n': return "\n";
    case 't': return "\t";
    case 'r': return "\r";
    case 'f': return "\f";
    case 'v': return "\v";
  }
  if (in_brackets) return letter == '\\' ? "\\" : std::string(1, letter);
  return std::string("\\") + letter;
}

std::string to_posix(const std::string& expression) {
  std::string posix;
  bool in_brackets = false, after_quantifier = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char letter = expression[i];
    const bool was_quantifier = std::exchange(after_quantifier, false);
    if (letter == '\\' && i + 1 < expression.size()) {
      posix += escape(expression[++i], in_brackets);
    } else if (in_brackets) {
      in_brackets = letter != ']' || posix.ends_with('[') || posix.ends_with("[^");
      posix += letter;
    } else if (letter == '?' && was_quantifier) {
      // non-greedy: a match is found or not all the same
    } else if (letter == '(' && expression.compare(i, 3, "(?:") == 0) {
      posix += '(';
      i += 2;
    } else {
      in_brackets = letter == '[';
      after_quantifier = letter == '*' || letter == '+' || letter == '?' || letter == '}';
      posix += letter;
    }
  }
  return posix;
}

}  // namespace

struct Pattern::Compiled {
  regex_t regex{};
  bool is_good = false;
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  ~Compiled() {
    if (is_good) regfree(&regex);
  }
};

std::expected<Pattern, std::string> Pattern::compile(const std::string& expression) {
  auto compiled = std::make_shared<Compiled>();
  const int error = regcomp(&compiled->regex, to_posix(expression).c_str(), REG_EXTENDED);
  if (error != 0) {
    std::array<char, 200> text{};
    regerror(error, &compiled->regex, text.data(), text.size());
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return std::unexpected(fmt::format("bad regular expression `{}`: {}", expression, text.data()));
  }
  compiled->is_good = true;
  return Pattern(std::move(compiled));
}

std::optional<std::size_t> Pattern::find(const std::string& text) const {
  regmatch_t match;
  if (regexec(&compiled_->regex, text.c_str(), 1, &match, 0) != 0) return std::nullopt;
  return static_cast<std::size_t>(match.rm_so);
}

}  // namespace raddle::stdlib::native
