#include "stdlib/native/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace raddle::stdlib {

namespace {

constexpr std::string_view blanks = " \t\n\v\f\r";

/// Reads the words of a list, one after the other.
class ListReader {
 public:
  explicit ListReader(std::string_view text) : rest_(text) {}

  bool has_more() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    return !rest_.empty();
  }
  /// @pre has_more()
  std::expected<std::string, std::string> next() {
    if (rest_.front() == '{') return braced();
    if (rest_.front() == '"') return quoted();
    std::string word;
    while (!rest_.empty() && !blanks.contains(rest_.front())) take(word);
    return word;
  }

 private:
  std::expected<std::string, std::string> braced() {
    std::string word;
    rest_.remove_prefix(1);
    for (int depth = 1; !rest_.empty(); rest_.remove_prefix(1)) {
      if (rest_.front() == '{') ++depth;
      if (rest_.front() == '}' && --depth == 0) return ended(std::move(word), "close-brace");
      if (rest_.front() == '\\' && rest_.size() > 1) {  // hides a brace, and stays
        word += '\\';
        rest_.remove_prefix(1);
      }
      word += rest_.front();
    }
    return std::unexpected("unmatched open brace");
  }
  std::expected<std::string, std::string> quoted() {
    std::string word;
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (rest_.front() == '"') return ended(std::move(word), "close-quote");
      take(word);
    }
    return std::unexpected("unmatched open quote");
  }
  /// Behind the last sign of a word.
  std::expected<std::string, std::string> ended(std::string word, const char* sign) {
    rest_.remove_prefix(1);
    if (rest_.empty() || blanks.contains(rest_.front())) return word;
    return std::unexpected(fmt::format("`{}` follows a {} without a blank", rest_.front(), sign));
  }
  /// A character, or what a backslash and those behind it stand for.
  void take(std::string& word) {
    constexpr std::string_view letters = "abfnrtv", meant = "\a\b\f\n\r\t\v";
    if (rest_.front() == '\\' && rest_.size() > 1) {
      rest_.remove_prefix(1);
      const std::size_t at = letters.find(rest_.front());
      word += at == std::string_view::npos ? rest_.front() : meant[at];
    } else {
      word += rest_.front();
    }
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

struct Sign {
  std::string_view of_tcl, of_shell;
  bool has_file = true;
  std::string_view behind = {};  ///< the file
};
/// Longer ones come first: the word may go on with the file's name.
constexpr std::array signs = {
    Sign{"2>@1", "2>&1", false},    Sign{"2>>", "2>>"},    Sign{"2>", "2>"}, Sign{">>&", ">>", true, " 2>&1"},
    Sign{">&", ">", true, " 2>&1"}, Sign{">>", ">>"},      Sign{">", ">"},   Sign{"<", "<"},
    Sign{"|&", "2>&1 |", false},    Sign{"|", "|", false},
};

const Sign* sign_of(std::string_view word) {
  const auto found = std::ranges::find_if(
      signs, [word](const Sign& sign) { return sign.has_file ? word.starts_with(sign.of_tcl) : word == sign.of_tcl; });
  return found == signs.end() ? nullptr : &*found;
}

std::string in_quotes(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::expected<std::vector<std::string>, std::string> tcl_words(std::string_view line) {
  std::vector<std::string> words;
  for (ListReader reader(line); reader.has_more();) {
    std::expected<std::string, std::string> word = reader.next();
    if (!word) return std::unexpected(std::move(word.error()));
    words.push_back(std::move(*word));
  }
  return words;
}

std::expected<std::vector<std::string>, std::string> command_of_line(std::string_view line) {
  std::expected<std::vector<std::string>, std::string> words = tcl_words(line);
  if (!words || std::ranges::none_of(*words, [](const std::string& word) { return sign_of(word) != nullptr; }))
    return words;
  std::string command;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string_view word = (*words)[i];
    const Sign* const sign = sign_of(word);
    command += command.empty() ? "" : " ";
    if (sign == nullptr) {
      command += in_quotes(word);
      continue;
    }
    command += sign->of_shell;
    if (!sign->has_file) continue;
    std::string_view file = word.substr(sign->of_tcl.size());
    if (file.empty() && ++i < words->size()) file = (*words)[i];
    if (file.empty()) return std::unexpected(fmt::format("there is no file behind `{}`", sign->of_tcl));
    if (file.front() == '@' || file.front() == '<' || file.front() == '&')
      return std::unexpected(fmt::format("`{}` is not supported", word));
    command += fmt::format(" {}{}", in_quotes(file), sign->behind);
  }
  return std::vector<std::string>{"sh", "-c", command};
}

}  // namespace raddle::stdlib
