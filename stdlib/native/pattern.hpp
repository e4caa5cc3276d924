#pragma once
// Regular expressions of library functions. Meant to read what scripts write for Tcl: its expressions are those of
// POSIX with Perl's abbreviations (\d \w \s \m \M \y, non-greedy `*?`), which here are brought to POSIX's form.
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace raddle::stdlib::native {

class Pattern {
 public:
  /// @return  the text of the error: "bad regular expression `(`: unmatched ( or \("
  static std::expected<Pattern, std::string> compile(const std::string& expression);
  /// Where the leftmost match in `text` begins. Any thread.
  std::optional<std::size_t> find(const std::string& text) const;
  /// What the groups of the leftmost match took, in order; an expression without groups: the whole match. Any thread.
  std::optional<std::vector<std::string>> groups(const std::string& text) const;
  struct Match {
    std::size_t begin = 0;
    std::vector<std::string> parts;  ///< the whole, then what each group took
  };
  /// From left to right, none over another. @return the text of an error: it has `*?` or the like, whose ends are
  /// others
  std::expected<std::vector<Match>, std::string> matches(const std::string& text) const;
  /// How many texts groups() gives.
  std::size_t group_count() const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace raddle::stdlib::native
