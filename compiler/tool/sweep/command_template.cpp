#include "compiler/tool/sweep/command_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "vm/external/shell_command.hpp"
#include "vm/record/record_folder.hpp"

namespace raddle::sweep {
namespace {

constexpr const char* brace_help = "`{{` stands for a brace itself";

std::string help_for(const std::string& name, const std::vector<Parameter>& parameters) {
  if (name == "rep") return "--repeats N makes it";
  std::vector<std::string> names{std::string(CommandTemplate::seed), std::string(CommandTemplate::folder)};
  for (const Parameter& each : parameters) names.push_back(each.name);
  const std::string nearest = nearest_name(name, names);
  if (!nearest.empty()) return fmt::format("did you mean `{{{}}}`?", nearest);
  return is_name(name) ? fmt::format("-p {}=VALUES makes it; {}", name, brace_help) : brace_help;
}

/// @throws fmt::format_error
std::string formatted(const std::string& format, ValueType type, const std::string& value) {
  switch (type) {
    case ValueType::int_: return fmt::format(fmt::runtime(format), read_int(value));
    case ValueType::float_: return fmt::format(fmt::runtime(format), read_number(value).value_or(0));
    case ValueType::string: break;
  }
  return fmt::format(fmt::runtime(format), value);
}

bool is_format(const CommandTemplate::Piece& piece) {
  try {
    formatted(piece.format, piece.formatted_as, "1");
    return true;
  } catch (const fmt::format_error&) {
    return false;
  }
}

}  // namespace

std::string run_folder(const RunPlace& place, std::uint64_t number) {
  return fmt::format("{}/{}", vm::folder_of_run(place.run), number);
}

std::expected<CommandTemplate, OptionError> CommandTemplate::parse(const std::vector<std::string>& words,
                                                                   const std::vector<Parameter>& parameters) {
  CommandTemplate made;
  made.words_ = words;
  for (const std::string& word : words) {
    auto pieces = parse_word(word, parameters);
    if (!pieces) return std::unexpected(OptionError{"", word, std::move(pieces.error())});
    made.pieces_.push_back(std::move(*pieces));
  }
  return made;
}

std::expected<std::vector<CommandTemplate::Piece>, ArgumentError> CommandTemplate::parse_word(
    const std::string& word, const std::vector<Parameter>& parameters) {
  std::vector<Piece> pieces;
  const auto add = [&](char sign) {
    if (pieces.empty() || pieces.back().is_placeholder) pieces.emplace_back();
    pieces.back().text += sign;
  };
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_brace = word[i] == '{' || word[i] == '}';
    if (is_brace && i + 1 < word.size() && word[i + 1] == word[i]) {
      add(word[i++]);
      continue;
    }
    if (word[i] != '{') {
      add(word[i]);
      continue;
    }
    const std::size_t close = word.find('}', i);
    if (close == std::string::npos)
      return std::unexpected(ArgumentError{"a placeholder is not closed", i, word.size(), brace_help});
    auto placeholder = parse_placeholder(std::string_view(word).substr(i + 1, close - i - 1), i, parameters);
    if (!placeholder) return std::unexpected(std::move(placeholder.error()));
    pieces.push_back(std::move(*placeholder));
    i = close;
  }
  return pieces;
}

std::expected<CommandTemplate::Piece, ArgumentError> CommandTemplate::parse_placeholder(
    std::string_view text, std::size_t begin, const std::vector<Parameter>& parameters) {
  const auto error = [&](std::string message, std::string help) {
    return std::unexpected(ArgumentError{std::move(message), begin, begin + text.size() + 2, std::move(help)});
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  Piece piece{.text = std::string(text.substr(0, colon)), .is_placeholder = true};
  const auto found = std::ranges::find(parameters, piece.text, &Parameter::name);
  if (found == parameters.end()) {
    const std::initializer_list<std::string_view> names{number, slot, seed, run_seed, folder};
    if (std::ranges::find(names, piece.text) == names.end())
      return error(fmt::format("there is no parameter `{}`", piece.text), help_for(piece.text, parameters));
    piece.formatted_as = piece.text == folder ? ValueType::string : ValueType::int_;
  } else {
    piece.parameter = static_cast<std::size_t>(found - parameters.begin());
    piece.formatted_as = found->type;
  }
  if (colon == text.size()) return piece;
  piece.format = fmt::format("{{{}}}", text.substr(colon));
  const bool is_text = piece.formatted_as == ValueType::string;
  if (!is_text && std::string_view("aAeEfFgG").contains(text.back())) piece.formatted_as = ValueType::float_;
  if (!is_format(piece))
    return error(fmt::format("`{}` is no format of {}", text.substr(colon + 1), is_text ? "a text" : "a number"),
                 "{x:.3f}, {n:04d} and {s:>8} are formats");
  return piece;
}

std::string CommandTemplate::value_of(const Piece& piece, const Point& point, const RunPlace& place) {
  if (piece.parameter != no_parameter) return point.values[piece.parameter];
  if (piece.text == slot) return std::to_string(place.slot);
  if (piece.text == folder) return run_folder(place, point.number);
  return std::to_string(piece.text == number ? point.number : point.seed);
}

void CommandTemplate::append(std::string& word, const Piece& piece, const Point& point, const RunPlace& place) {
  if (!piece.is_placeholder)
    word += piece.text;
  else if (piece.format.empty())
    word += value_of(piece, point, place);
  else
    word += formatted(piece.format, piece.formatted_as, value_of(piece, point, place));
}

std::vector<std::string> CommandTemplate::words_for(const Point& point, const RunPlace& place) const {
  std::vector<std::string> words;
  words.reserve(pieces_.size());
  for (const std::vector<Piece>& pieces : pieces_) {
    std::string& word = words.emplace_back();
    for (const Piece& piece : pieces) append(word, piece, point, place);
  }
  return words;
}

bool CommandTemplate::uses(std::string_view name) const {
  return std::ranges::any_of(pieces_, [&](const auto& pieces) {
    return std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.is_placeholder && piece.text == name; });
  });
}

bool CommandTemplate::has_any(bool (*holds)(const Piece&)) const {
  return std::ranges::any_of(pieces_, [&](const auto& pieces) { return std::ranges::any_of(pieces, holds); });
}

bool CommandTemplate::has_placeholders() const {
  return has_any([](const Piece& piece) { return piece.is_placeholder; });
}

bool CommandTemplate::is_plain() const {
  return !has_any([](const Piece& piece) {
    const bool is_of_place = piece.parameter == no_parameter && (piece.text == slot || piece.text == folder);
    return piece.is_placeholder && (is_of_place || !piece.format.empty());
  });
}

bool CommandTemplate::uses_run_seed() const {
  return has_any([](const Piece& piece) {
    return piece.is_placeholder && piece.parameter == no_parameter && (piece.text == seed || piece.text == run_seed);
  });
}

std::string CommandTemplate::plain_value_of(std::string_view name, const Point& point) const {
  for (const std::vector<Piece>& pieces : pieces_) {
    for (const Piece& piece : pieces) {
      if (piece.is_placeholder && piece.text == name) return value_of(piece, point, {});
    }
  }
  return {};
}

std::vector<std::string> CommandTemplate::unused(const std::vector<Parameter>& parameters) const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters)
    if (!uses(parameter.name)) names.push_back(parameter.name);
  return names;
}

}  // namespace raddle::sweep
