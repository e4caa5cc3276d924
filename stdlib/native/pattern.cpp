#include "stdlib/native/pattern.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
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

struct Posix {
  std::string text;
  std::size_t brackets = 0;         // pairs of round ones
  std::vector<std::size_t> groups;  // which of them are not `(?:`, from 1
};

Posix to_posix(const std::string& expression) {
  Posix converted;
  std::string& posix = converted.text;
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
      ++converted.brackets;
      i += 2;
    } else {
      if (letter == '(') converted.groups.push_back(++converted.brackets);
      in_brackets = letter == '[';
      after_quantifier = letter == '*' || letter == '+' || letter == '?' || letter == '}';
      posix += letter;
    }
  }
  return converted;
}

}  // namespace

struct Pattern::Compiled {
  regex_t regex{};
  std::vector<std::size_t> groups = {};
  bool is_good = false;
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  ~Compiled() {
    if (is_good) regfree(&regex);
  }
};

std::expected<Pattern, std::string> Pattern::compile(const std::string& expression) {
  auto compiled = std::make_shared<Compiled>();
  Posix posix = to_posix(expression);
  const int error = regcomp(&compiled->regex, posix.text.c_str(), REG_EXTENDED);
  if (error != 0) {
    std::array<char, 200> text{};
    regerror(error, &compiled->regex, text.data(), text.size());
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return std::unexpected(fmt::format("bad regular expression `{}`: {}", expression, text.data()));
  }
  compiled->is_good = true;
  compiled->groups = std::move(posix.groups);
  if (compiled->groups.empty()) compiled->groups.push_back(0);
  return Pattern(std::move(compiled));
}

std::optional<std::size_t> Pattern::find(const std::string& text) const {
  regmatch_t match;
  if (regexec(&compiled_->regex, text.c_str(), 1, &match, 0) != 0) return std::nullopt;
  return static_cast<std::size_t>(match.rm_so);
}

std::optional<std::vector<std::string>> Pattern::groups(const std::string& text) const {
  std::vector<regmatch_t> matches(compiled_->groups.back() + 1);
  if (regexec(&compiled_->regex, text.c_str(), matches.size(), matches.data(), 0) != 0) return std::nullopt;
  std::vector<std::string> groups;
  for (const std::size_t number : compiled_->groups) {
    const regmatch_t& match = matches[number];  // -1: the group took part in no alternative
    const auto begin = static_cast<std::size_t>(std::max(match.rm_so, 0)),
               end = static_cast<std::size_t>(std::max(match.rm_eo, 0));
    groups.push_back(text.substr(begin, end - begin));
  }
  return groups;
}

std::size_t Pattern::group_count() const { return compiled_->groups.size(); }

}  // namespace raddle::stdlib::native
