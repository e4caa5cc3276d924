#pragma once
// The command of a sweep: words with placeholders for a point's values.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/space/space.hpp"

namespace raddle::sweep {

/// Where a point is run.
struct RunPlace {
  unsigned slot = 1;        ///< one that no other run of the time has, from 1 to the number of runs at once
  std::string run = "RUN";  ///< its id
};

/// The folder that a run has for files of a point.
std::string run_folder(const RunPlace& place, std::uint64_t number);

class CommandTemplate {
 public:
  /// Point::seed, as does `{seed}` if no parameter is named so.
  static constexpr std::string_view run_seed = "#seed", seed = "seed";
  static constexpr std::string_view number = "#";
  /// Those of a RunPlace: `{%}`, `{run.dir}`.
  static constexpr std::string_view slot = "%", folder = "run.dir";
  /// `{name}` of a parameter, or `{name:format}` as in std::format, `{#}` the point's number, `{seed}`, `{%}`,
  /// `{run.dir}`; `{{` stands for a brace.
  static std::expected<CommandTemplate, OptionError> parse(const std::vector<std::string>& words,
                                                           const std::vector<Parameter>& parameters);
  std::vector<std::string> words_for(const Point& point, const RunPlace& place) const;
  const std::vector<std::string>& words() const { return words_; }
  /// Parameters that no word names.
  std::vector<std::string> unused(const std::vector<Parameter>& parameters) const;
  /// @param name  of a parameter, `#` or `seed`
  bool uses(std::string_view name) const;
  bool has_placeholders() const;
  /// It can be told without a point what a placeholder stands for: none has a format or stands for a RunPlace.
  bool is_plain() const;
  /// A word has Point::seed.
  bool uses_run_seed() const;
  /// The text that a placeholder stands for. @pre uses(name), is_plain()
  std::string plain_value_of(std::string_view name, const Point& point) const;

  static constexpr std::size_t no_parameter = ~std::size_t{0};
  /// A text, or a placeholder.
  struct Piece {
    std::string text;  ///< of a placeholder, its name
    bool is_placeholder = false;
    std::size_t parameter = no_parameter;  ///< of Point::values; no_parameter: `#`, `%`, `run.dir`, or the run's seed
    std::string format = "";               ///< of a parameter: `{:.3f}`, or ""
    ValueType formatted_as = ValueType::string;
  };
  /// Of each word.
  const std::vector<std::vector<Piece>>& pieces() const { return pieces_; }

 private:
  bool has_any(bool (*holds)(const Piece&)) const;
  static std::string value_of(const Piece& piece, const Point& point, const RunPlace& place);
  static void append(std::string& word, const Piece& piece, const Point& point, const RunPlace& place);
  static std::expected<std::vector<Piece>, ArgumentError> parse_word(const std::string& word,
                                                                     const std::vector<Parameter>& parameters);
  static std::expected<Piece, ArgumentError> parse_placeholder(std::string_view text, std::size_t begin,
                                                               const std::vector<Parameter>& parameters);
  std::vector<std::string> words_;
  std::vector<std::vector<Piece>> pieces_;
};

}  // namespace raddle::sweep
