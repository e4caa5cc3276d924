#include "stdlib/native/pattern.hpp"

#include <fmt/format.h>
#include <locale.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <mutex>
#include <utility>

#include "stdlib/native/utf8.hpp"
#include "vm/value/zero_byte.hpp"

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
  bool is_lazy = false;             // it has `*?` or the like
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
      converted.is_lazy = true;  // a match is found or not all the same
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

/// What the C library makes of an expression: it writes repeats out (`a{3}` as `aaa`, `a+` as `aa*`), keeps for each
/// place what can follow without a letter, and walks brackets by recursion.
class Cost {
 public:
  /// @return  why the expression is refused; empty: it is fine
  static std::string fault(const std::string& posix) { return Cost(posix).read(); }

 private:
  static constexpr std::size_t most_places = 50'000, most_branches = 2'000, most_depth = 250;
  struct Part {
    std::size_t places = 0;
    std::size_t branches = 0;  ///< `|`, `?`, `*` and the like

    void add(Part other) {
      places = std::min(places + other.places, most_places + 1);
      branches = std::min(branches + other.branches, most_branches + 1);
    }
    Part times(std::size_t count) const {  // both factors are bounded
      return {std::min(places * count, most_places + 1), std::min(branches * count, most_branches + 1)};
    }
  };
  struct Group {
    Part whole;  ///< without the last part
    Part last;   ///< what a repeat behind it would repeat
  };

  explicit Cost(const std::string& posix) : posix_(posix), groups_(1) {}

  std::string read() {
    for (; at_ < posix_.size(); ++at_) {
      const char letter = posix_[at_];
      if (letter == '(') {
        groups_.emplace_back();
        if (groups_.size() > most_depth + 1) return fmt::format("more than {} brackets in each other", most_depth);
      } else if (letter == ')' && groups_.size() > 1) {
        Part inside = groups_.back().whole;
        inside.add(groups_.back().last);
        inside.add({1, 0});  // each copy has brackets of its own
        groups_.pop_back();
        begin_part(inside);
      } else if (letter == '|') {
        begin_part({1, 1});
      } else if (letter == '*' || letter == '+' || letter == '?') {
        repeat(letter == '+' ? 2 : 1, 1);
      } else if (letter == '{') {
        read_counts();
      } else {
        if (letter == '\\') ++at_;
        if (letter == '[') skip_set();
        begin_part({1, 0});
      }
    }
    while (groups_.size() > 1) {  // brackets that nothing closes: an error of its own
      const Group inner = groups_.back();
      groups_.pop_back();
      groups_.back().whole.add(inner.whole);
      groups_.back().whole.add(inner.last);
    }
    Part all = groups_[0].whole;
    all.add(groups_[0].last);
    if (all.places > most_places)
      return fmt::format("more than {} letters and brackets, with repeats written out", most_places);
    if (all.branches > most_branches)
      return fmt::format("more than {} alternatives and options, with repeats written out", most_branches);
    return {};
  }

  void begin_part(Part next) {
    groups_.back().whole.add(groups_.back().last);
    groups_.back().last = next;
  }
  void repeat(std::size_t copies, std::size_t optional_copies) {
    Part& last = groups_.back().last;
    last = last.times(std::max<std::size_t>(copies, 1));
    last.add({optional_copies, optional_copies});
  }
  /// `{m}`, `{m,}`, `{m,n}`; others are letters, or no expression at all.
  void read_counts() {
    const auto number = [this] {
      std::size_t value = 0;
      for (; at_ + 1 < posix_.size() && std::isdigit(static_cast<unsigned char>(posix_[at_ + 1])) != 0; ++at_)
        value = std::min<std::size_t>(value * 10 + static_cast<std::size_t>(posix_[at_ + 1] - '0'), most_places + 1);
      return value;
    };
    const std::size_t least = number();
    if (next_is(',')) {
      ++at_;
      const std::size_t most = number();
      repeat(std::max(least + 1, most), most > least ? most - least : 1);
    } else {
      repeat(least, 0);
    }
    if (next_is('}')) ++at_;  // else it would be the part that a repeat behind it repeats
  }
  bool next_is(char letter) const { return at_ + 1 < posix_.size() && posix_[at_ + 1] == letter; }
  /// To the `]` at its end.
  void skip_set() {
    at_ += posix_.compare(at_, 2, "[^") == 0 ? 2 : 1;
    const std::size_t first = at_;  // a `]` there is a member
    while (at_ < posix_.size() && (posix_[at_] != ']' || at_ == first)) {
      const char kind = posix_[at_] == '[' && at_ + 1 < posix_.size() ? posix_[at_ + 1] : ' ';
      const bool is_class = kind == ':' || kind == '.' || kind == '=';  // [:alpha:]
      const std::size_t end = is_class ? posix_.find(std::string{kind, ']'}, at_ + 2) : std::string::npos;
      at_ = end == std::string::npos ? at_ + 1 : end + 2;
    }
  }

  const std::string& posix_;
  std::vector<Group> groups_;
  std::size_t at_ = 0;
};

/// For REG_STARTEND: a zero byte is no end.
regmatch_t all_of(const std::string& text) { return {.rm_so = 0, .rm_eo = static_cast<regoff_t>(text.size())}; }

/// For messages.
std::string shortened(const std::string& expression) {
  constexpr std::size_t longest = 100;
  return expression.size() <= longest ? expression : expression.substr(0, longest) + "...";
}

}  // namespace

/// While it lives, functions of C that this thread calls take a text as characters of UTF-8, not as bytes.
class Characters {
 public:
  Characters() : before_(uselocale(utf8())) {}
  Characters(const Characters&) = delete;
  ~Characters() { uselocale(before_); }

 private:
  /// Null, which changes nothing, where the C library has none.
  static locale_t utf8() {
    static const locale_t known = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return known;
  }
  locale_t before_;
};

bool is_ascii(const std::string& text) {
  return std::ranges::none_of(text, [](char each) { return static_cast<unsigned char>(each) > 0x7F; });
}

/// Compiled where it is needed: by characters it takes several times as long to search as by bytes.
struct Regex {
  regex_t regex{};
  bool is_good = false;
  Regex() = default;
  Regex(const Regex&) = delete;
  ~Regex() {
    if (is_good) regfree(&regex);
  }
  int compile(const std::string& text) {
    const int error = regcomp(&regex, text.c_str(), REG_EXTENDED);
    is_good = error == 0;
    return error;
  }
};

struct Pattern::Compiled {
  std::string posix = {};
  bool is_ascii = true;
  Regex bytes;  ///< for texts in ASCII
  mutable std::once_flag needs_characters;
  mutable Regex characters;  ///< for all others, and where the expression itself is no ASCII
  std::vector<std::size_t> groups = {};
  bool is_lazy = false;

  /// @return  whether it fits
  bool search(const std::string& text, std::vector<regmatch_t>& matches, int flags) const {
    const auto run = [&](const regex_t& regex) {
      return regexec(&regex, text.c_str(), matches.size(), matches.data(), REG_STARTEND | flags) == 0;
    };
    if (is_ascii && native::is_ascii(text)) return run(bytes.regex);
    const Characters here;
    // what is good by bytes and in ASCII is good by characters
    std::call_once(needs_characters, [this] { characters.compile(posix); });
    return characters.is_good && run(characters.regex);
  }
};

std::expected<Pattern, std::string> Pattern::compile(const std::string& expression) {
  if (vm::has_zero_byte(expression))
    return std::unexpected(fmt::format("bad regular expression `{}`: it has a zero byte", shortened(expression)));
  auto compiled = std::make_shared<Compiled>();
  Posix posix = to_posix(expression);
  if (const std::string fault = Cost::fault(posix.text); !fault.empty())
    return std::unexpected(fmt::format("regular expression `{}` is too large: {}", shortened(expression), fault));
  compiled->posix = posix.text;
  compiled->is_ascii = is_ascii(expression);
  int error = 0;
  if (compiled->is_ascii)
    error = compiled->bytes.compile(posix.text);
  else
    std::call_once(compiled->needs_characters, [&] {
      const Characters here;
      error = compiled->characters.compile(posix.text);
    });
  if (error == REG_ECOLLATE && !compiled->is_ascii)  // glibc's C.UTF-8 has no order of them
    return std::unexpected(
        fmt::format("bad regular expression `{}`: the ends of a range in brackets must be ASCII: "
                    "write the characters one by one",
                    shortened(expression)));
  if (error != 0) {
    std::array<char, 200> text{};
    regerror(error, compiled->is_ascii ? &compiled->bytes.regex : &compiled->characters.regex, text.data(),
             text.size());
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return std::unexpected(fmt::format("bad regular expression `{}`: {}", shortened(expression), text.data()));
  }
  compiled->is_lazy = posix.is_lazy;
  compiled->groups = std::move(posix.groups);
  if (compiled->groups.empty()) compiled->groups.push_back(0);
  return Pattern(std::move(compiled));
}

std::optional<std::size_t> Pattern::find(const std::string& text) const {
  std::vector<regmatch_t> match{all_of(text)};
  if (!compiled_->search(text, match, 0)) return std::nullopt;
  return static_cast<std::size_t>(match.front().rm_so);
}

std::optional<std::vector<std::string>> Pattern::groups(const std::string& text) const {
  std::vector<regmatch_t> matches(compiled_->groups.back() + 1);
  matches.front() = all_of(text);
  if (!compiled_->search(text, matches, 0)) return std::nullopt;
  std::vector<std::string> groups;
  for (const std::size_t number : compiled_->groups) {
    const regmatch_t& match = matches[number];  // -1: the group took part in no alternative
    const auto begin = static_cast<std::size_t>(std::max(match.rm_so, 0)),
               end = static_cast<std::size_t>(std::max(match.rm_eo, 0));
    groups.push_back(text.substr(begin, end - begin));
  }
  return groups;
}

std::expected<std::vector<Pattern::Match>, std::string> Pattern::matches(const std::string& text) const {
  if (compiled_->is_lazy)
    return std::unexpected("`*?`, `+?` and `??` have no meaning here: `[^x]*x` ends at the first `x`");
  std::vector<Match> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::vector<regmatch_t> parts(compiled_->groups.back() + 1);
    parts.front() = {.rm_so = static_cast<regoff_t>(begin), .rm_eo = static_cast<regoff_t>(text.size())};
    if (!compiled_->search(text, parts, begin == 0 ? 0 : REG_NOTBOL)) break;
    const auto part = [&](std::size_t number) {  // -1: the group took part in no alternative
      const regmatch_t& match = parts[number];
      return match.rm_so < 0 ? std::string()
                             : text.substr(static_cast<std::size_t>(match.rm_so),
                                           static_cast<std::size_t>(match.rm_eo - match.rm_so));
    };
    Match& match = all.emplace_back();
    match.begin = static_cast<std::size_t>(parts[0].rm_so);
    match.parts.push_back(part(0));
    for (const std::size_t number : compiled_->groups)
      if (number != 0) match.parts.push_back(part(number));
    const std::size_t size = match.parts[0].size();
    begin = match.begin +
            (size > 0 || match.begin == text.size() ? std::max<std::size_t>(size, 1) : utf8_width(text, match.begin));
  }
  return all;
}

std::size_t Pattern::group_count() const { return compiled_->groups.size(); }

}  // namespace raddle::stdlib::native
