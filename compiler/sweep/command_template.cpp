#include "compiler/sweep/command_template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/sweep/scan.hpp"

namespace raddle::sweep {

std::expected<CommandTemplate, OptionError> CommandTemplate::parse(const std::vector<std::string>& words,
                                                                   const std::vector<Parameter>& parameters) {
  CommandTemplate made;
  made.words_ = words;
  for (const std::string& word : words) {
    auto pieces = made.parse_word(word, parameters);
    if (!pieces) return std::unexpected(OptionError{"", word, std::move(pieces.error())});
    made.pieces_.push_back(std::move(*pieces));
  }
  return made;
}

std::expected<std::vector<CommandTemplate::Piece>, ArgumentError> CommandTemplate::parse_word(
    const std::string& word, const std::vector<Parameter>& parameters) const {
  std::vector<Piece> pieces(1);
  const auto error = [](std::size_t begin, std::size_t end, std::string message, std::string help) {
    return std::unexpected(ArgumentError{std::move(message), begin, end, std::move(help)});
  };
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '{') {
      const bool is_double = word[i] == '}' && i + 1 < word.size() && word[i + 1] == '}';
      pieces.back().text += word[i];
      if (is_double) ++i;
      continue;
    }
    if (i + 1 < word.size() && word[i + 1] == '{') {
      pieces.back().text += word[++i];
      continue;
    }
    const std::size_t close = word.find('}', i);
    constexpr const char* brace_help = "`{{` stands for a brace itself";
    if (close == std::string::npos) return error(i, word.size(), "a placeholder is not closed", brace_help);
    const std::string name = word.substr(i + 1, close - i - 1);
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    if (found != parameters.end()) {
      pieces.back().parameter = static_cast<std::size_t>(found - parameters.begin());
    } else if (name == "#") {
      pieces.back().parameter = number;
    } else if (name == "seed") {
      pieces.back().parameter = seed;
    } else {
      std::vector<std::string> names{"seed"};
      for (const Parameter& each : parameters) names.push_back(each.name);
      const std::string nearest = nearest_name(name, names);
      std::string help = brace_help;
      if (name == "rep")
        help = "--repeats N makes it";
      else if (!nearest.empty())
        help = fmt::format("did you mean `{{{}}}`?", nearest);
      else if (is_name(name))
        help = fmt::format("-p {}=VALUES makes it; {}", name, brace_help);
      return error(i, close + 1, fmt::format("there is no parameter `{}`", name), help);
    }
    pieces.emplace_back();
    i = close;
  }
  return pieces;
}

std::vector<std::string> CommandTemplate::words_for(const Point& point) const {
  std::vector<std::string> words;
  words.reserve(pieces_.size());
  for (const std::vector<Piece>& pieces : pieces_) {
    std::string& word = words.emplace_back();
    for (const Piece& piece : pieces) {
      word += piece.text;
      if (piece.parameter == number)
        word += std::to_string(point.number);
      else if (piece.parameter == seed)
        word += std::to_string(point.seed);
      else if (piece.parameter != nothing)
        word += point.values[piece.parameter];
    }
  }
  return words;
}

bool CommandTemplate::uses_seed() const {
  return std::ranges::any_of(pieces_, [](const auto& pieces) {
    return std::ranges::any_of(pieces, [](const Piece& piece) { return piece.parameter == seed; });
  });
}

std::vector<std::string> CommandTemplate::unused(const std::vector<Parameter>& parameters) const {
  std::vector<bool> used(parameters.size());
  for (const std::vector<Piece>& pieces : pieces_)
    for (const Piece& piece : pieces)
      if (piece.parameter < used.size()) used[piece.parameter] = true;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i] && parameters[i].name != "rep" && parameters[i].name != "seed") names.push_back(parameters[i].name);
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
