#pragma once
// The command of a sweep: words with placeholders for a point's values.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sweep/space.hpp"

namespace raddle::sweep {

class CommandTemplate {
 public:
  /// Point::seed, as does `{seed}` if no parameter is named so.
  static constexpr std::string_view run_seed = "#seed";
  /// `{name}` of a parameter, `{#}` the point's number, `{seed}`; `{{` stands for a brace.
  static std::expected<CommandTemplate, OptionError> parse(const std::vector<std::string>& words,
                                                           const std::vector<Parameter>& parameters);
  std::vector<std::string> words_for(const Point& point) const;
  const std::vector<std::string>& words() const { return words_; }
  /// Parameters that no word names.
  std::vector<std::string> unused(const std::vector<Parameter>& parameters) const;
  /// @param name  of a parameter, `#` or `seed`
  bool uses(std::string_view name) const;
  /// A word has Point::seed.
  bool uses_run_seed() const;
  /// The text that a placeholder stands for. @pre uses(name)
  std::string value_of(std::string_view name, const Point& point) const;

  static constexpr std::size_t no_parameter = ~std::size_t{0};
  /// A text, or a placeholder.
  struct Piece {
    std::string text;  ///< of a placeholder, its name
    bool is_placeholder = false;
    std::size_t parameter = no_parameter;  ///< of Point::values; no_parameter: `#`, or the run's seed
  };
  /// Of each word.
  const std::vector<std::vector<Piece>>& pieces() const { return pieces_; }

 private:
  static void append(std::string& word, const Piece& piece, const Point& point);
  static std::expected<std::vector<Piece>, ArgumentError> parse_word(const std::string& word,
                                                                     const std::vector<Parameter>& parameters);
  std::vector<std::string> words_;
  std::vector<std::vector<Piece>> pieces_;
};

/// Words as a POSIX shell would have to be given them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace raddle::sweep
