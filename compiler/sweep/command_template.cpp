#include "compiler/sweep/command_template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/sweep/scan.hpp"

namespace raddle::sweep {
namespace {

constexpr const char* brace_help = "`{{` stands for a brace itself";

std::string help_for(const std::string& name, const std::vector<Parameter>& parameters) {
  if (name == "rep") return "--repeats N makes it";
  std::vector<std::string> names{"seed"};
  for (const Parameter& each : parameters) names.push_back(each.name);
  const std::string nearest = nearest_name(name, names);
  if (!nearest.empty()) return fmt::format("did you mean `{{{}}}`?", nearest);
  return is_name(name) ? fmt::format("-p {}=VALUES makes it; {}", name, brace_help) : brace_help;
}

}  // namespace

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
    Piece placeholder{.text = word.substr(i + 1, close - i - 1), .is_placeholder = true};
    const auto found = std::ranges::find(parameters, placeholder.text, &Parameter::name);
    if (found != parameters.end()) {
      placeholder.parameter = static_cast<std::size_t>(found - parameters.begin());
    } else if (placeholder.text != "#" && placeholder.text != "seed" && placeholder.text != run_seed) {
      return std::unexpected(ArgumentError{fmt::format("there is no parameter `{}`", placeholder.text), i, close + 1,
                                           help_for(placeholder.text, parameters)});
    }
    pieces.push_back(std::move(placeholder));
    i = close;
  }
  return pieces;
}

void CommandTemplate::append(std::string& word, const Piece& piece, const Point& point) {
  if (!piece.is_placeholder)
    word += piece.text;
  else if (piece.parameter != no_parameter)
    word += point.values[piece.parameter];
  else
    word += std::to_string(piece.text == "#" ? point.number : point.seed);
}

std::vector<std::string> CommandTemplate::words_for(const Point& point) const {
  std::vector<std::string> words;
  words.reserve(pieces_.size());
  for (const std::vector<Piece>& pieces : pieces_) {
    std::string& word = words.emplace_back();
    for (const Piece& piece : pieces) append(word, piece, point);
  }
  return words;
}

bool CommandTemplate::uses(std::string_view name) const {
  return std::ranges::any_of(pieces_, [&](const auto& pieces) {
    return std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.is_placeholder && piece.text == name; });
  });
}

bool CommandTemplate::uses_run_seed() const {
  return std::ranges::any_of(pieces_, [](const auto& pieces) {
    return std::ranges::any_of(pieces, [](const Piece& piece) {
      return piece.is_placeholder && piece.parameter == no_parameter && piece.text != "#";
    });
  });
}

std::string CommandTemplate::value_of(std::string_view name, const Point& point) const {
  for (const std::vector<Piece>& pieces : pieces_) {
    for (const Piece& piece : pieces) {
      if (!piece.is_placeholder || piece.text != name) continue;
      std::string value;
      append(value, piece, point);
      return value;
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

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%^";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char sign : word) line += sign == '\'' ? std::string("'\\''") : std::string(1, sign);
    line += '\'';
  }
  return line;
}

}  // namespace raddle::sweep
