#pragma once
// The command of a sweep: words with placeholders for a point's values.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sweep/space.hpp"

namespace raddle::sweep {

class CommandTemplate {
 public:
  /// `{name}` of a parameter, `{#}` the point's number, `{seed}`; `{{` stands for a brace.
  static std::expected<CommandTemplate, OptionError> parse(const std::vector<std::string>& words,
                                                           const std::vector<Parameter>& parameters);
  std::vector<std::string> words_for(const Point& point) const;
  const std::vector<std::string>& words() const { return words_; }
  /// Parameters that no word names.
  std::vector<std::string> unused(const std::vector<Parameter>& parameters) const;
  bool uses_seed() const;

 private:
  static constexpr std::size_t number = ~std::size_t{0}, seed = number - 1, nothing = seed - 1;
  /// A text, then a value.
  struct Piece {
    std::string text;
    std::size_t parameter = nothing;
  };
  std::expected<std::vector<Piece>, ArgumentError> parse_word(const std::string& word,
                                                              const std::vector<Parameter>& parameters) const;
  std::vector<std::string> words_;
  std::vector<std::vector<Piece>> pieces_;
};

/// Words as a POSIX shell would have to be given them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace raddle::sweep
