#include "compiler/sweep/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/sweep/scan.hpp"

namespace raddle::sweep {
namespace {

constexpr unsigned most_decimals = 15;
constexpr double most_values = 1e15;

std::uint64_t size_of(const WordList& list) { return list.words.size(); }
std::uint64_t size_of(const DecimalRange& range) { return range.count; }
std::uint64_t size_of(const SpacedRange& range) { return range.count; }

std::string text_at(const WordList& list, std::uint64_t index) { return list.words[index]; }

std::string text_at(const DecimalRange& range, std::uint64_t index) {
  const std::int64_t mantissa = range.from + static_cast<std::int64_t>(index) * range.step;
  if (range.decimals == 0) return fmt::format("{}", mantissa);
  const auto digits = fmt::format("{:0{}}", mantissa < 0 ? -mantissa : mantissa, range.decimals + 1);
  const std::size_t point = digits.size() - range.decimals;
  std::string text = fmt::format("{}{}.{}", mantissa < 0 ? "-" : "", digits.substr(0, point), digits.substr(point));
  // one number has one text, whatever the step: a program's points are found in the record by their texts
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string text_at(const SpacedRange& range, std::uint64_t index) {
  if (index == 0) return short_text(range.from);
  if (index + 1 == range.count) return short_text(range.to);
  const double share = static_cast<double>(index) / static_cast<double>(range.count - 1);
  return short_text(range.is_logarithmic ? range.from * std::pow(range.to / range.from, share)
                                         : range.from + (range.to - range.from) * share);
}

ValueType type_of_piece(const WordList& list) {
  ValueType type = ValueType::int_;
  for (const std::string& word : list.words) type = common_type(type, type_of(word));
  return type;
}
ValueType type_of_piece(const DecimalRange& range) { return range.decimals == 0 ? ValueType::int_ : ValueType::float_; }
ValueType type_of_piece(const SpacedRange& range) {
  const double steps = static_cast<double>(std::max<std::uint64_t>(range.count - 1, 1));
  const bool is_whole = !range.is_logarithmic && range.from == std::trunc(range.from) &&
                        std::fmod(range.to - range.from, steps) == 0 &&
                        std::max(std::abs(range.from), std::abs(range.to)) < 1e12;
  return is_whole ? ValueType::int_ : ValueType::float_;
}

/// Shells' and other tools' `1..9`, `1..9..2`, `{1..9}`, `0.1..0.9:0.1`. @return how it is written here
std::optional<std::string> range_with_dots(std::string_view text) {
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  std::string range(text);
  for (std::size_t dots; (dots = range.find("..")) != std::string::npos;) range.replace(dots, 2, 1, ':');
  if (range == text) return std::nullopt;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= range.size(); ++count) {
    const std::size_t end = std::min(range.find(':', begin), range.size());
    if (!read_number(std::string_view(range).substr(begin, end - begin))) return std::nullopt;
    begin = end + 1;
  }
  if (count > 3) return std::nullopt;
  return count == 3 ? range : fmt::format("{}:STEP", range);
}

/// How many digits stand behind the point: 1.50 has 2, 1e-3 has 3. Nothing if they are too many to count in.
std::optional<unsigned> decimals_of(std::string_view text) {
  const std::size_t exponent_at = text.find_first_of("eE");
  const std::string_view number = text.substr(0, exponent_at);
  const std::size_t point = number.find('.');
  long decimals = point == std::string_view::npos ? 0 : static_cast<long>(number.size() - point - 1);
  if (exponent_at != std::string_view::npos) {
    int exponent = 0;
    const std::string_view digits = text.substr(exponent_at + (text[exponent_at + 1] == '+' ? 2 : 1));
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc()) return std::nullopt;
    decimals -= exponent;
  }
  if (decimals > static_cast<long>(most_decimals)) return std::nullopt;
  return static_cast<unsigned>(std::max(decimals, 0L));
}

using Parsed = std::expected<std::variant<WordList, DecimalRange, SpacedRange>, ArgumentError>;

std::unexpected<ArgumentError> error_at(const Part& part, std::string message, std::string help = "") {
  return std::unexpected(ArgumentError{std::move(message), part.begin, part.end(), std::move(help)});
}

/// The number, or an error that says what it is of.
std::expected<double, ArgumentError> number_of(const Part& part, std::string_view what) {
  if (const std::optional<double> number = read_number(part.text)) return *number;
  return error_at(part, part.text.empty() ? fmt::format("{} is missing", what)
                                          : fmt::format("{} `{}` is no number", what, part.text));
}

Parsed parse_range(const Part& whole, const std::vector<Part>& parts) {
  constexpr const char* form = "a range is written FROM:TO or FROM:TO:STEP; both ends are values";
  if (parts.size() > 3) return error_at(parts[3], "a range has no fourth part", form);
  constexpr std::string_view names[] = {"the range's first value", "the range's last value", "the range's step"};
  double numbers[3] = {0, 0, 1};
  unsigned decimals = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = number_of(parts[i], names[i]);
    if (!number) return std::unexpected(number.error());
    const std::optional<unsigned> own = decimals_of(parts[i].text);
    if (!own)
      return error_at(parts[i], "a range counts in at most 15 decimals", "lin(FROM,TO,COUNT) has no such limit");
    numbers[i] = *number;
    decimals = std::max(decimals, *own);
  }
  const auto [from, to, step] = numbers;
  if (step == 0) return error_at(parts[2], "the range's step is 0");
  if ((to - from) / step < 0) {
    const std::string help = parts.size() == 2 ? fmt::format("{}:-1 counts down", whole.text) : "";
    return error_at(
        whole,
        fmt::format("the range is empty: {} is {} {}", parts[1].text, step > 0 ? "below" : "above", parts[0].text),
        help);
  }
  if (parts.size() == 2 && from != to && to - from < 1)
    return error_at(whole,
                    fmt::format("the range has one value only, {}: without a third part its step is 1", parts[0].text),
                    fmt::format("FROM:TO:STEP, as in `{}:{}`", whole.text,
                                short_text(std::pow(10, std::floor(std::log10((to - from) / 2))))));
  const double scale = std::pow(10.0, decimals), count = std::floor((to - from) / step + 1e-9) + 1;
  if (count > most_values || std::abs(from) * scale > 9e18 || std::abs(to) * scale > 9e18)
    return error_at(whole, "the range has too many values");
  return DecimalRange{.from = std::llround(from * scale),
                      .step = std::llround(step * scale),
                      .decimals = decimals,
                      .count = static_cast<std::uint64_t>(count)};
}

Parsed parse_spaced(const Part& whole, const FunctionCall& call) {
  const bool is_logarithmic = call.name.text == "log";
  if (call.arguments.size() != 3)
    return error_at(whole, fmt::format("`{}` takes three values, not {}", call.name.text, call.arguments.size()),
                    fmt::format("{}(FROM,TO,COUNT); both ends are values", call.name.text));
  const auto from = number_of(call.arguments[0], "the first value"),
             to = number_of(call.arguments[1], "the last value");
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  for (std::size_t i = 0; is_logarithmic && i < 2; ++i)
    if ((i == 0 ? *from : *to) <= 0)
      return error_at(call.arguments[i], "`log` goes from a positive value to a positive one");
  const Part& count_part = call.arguments[2];
  const std::optional<std::uint64_t> count = read_count(count_part.text);
  if (!count || *count == 0)
    return error_at(count_part, fmt::format("the count `{}` is no whole number from 1 on", count_part.text));
  if (static_cast<double>(*count) > most_values) return error_at(count_part, "the range has too many values");
  if (*count == 1 && *from != *to) return error_at(count_part, "a single value can not be both ends");
  return SpacedRange{*from, *to, is_logarithmic, *count};
}

Parsed parse_item(const Part& item) {
  if (item.text.empty()) return error_at(item, "a value is missing");
  if (const std::optional<FunctionCall> call = read_call(item)) {
    if (call->name.text == "lin" || call->name.text == "log") return parse_spaced(item, *call);
    if (is_distribution(call->name.text))
      return error_at(item, fmt::format("`{}` is a distribution, not a list of values", call->name.text),
                      fmt::format("write `~` in place of `=`, and say how many with --random, --lhs or --sobol"));
    return error_at(call->name, fmt::format("there is no `{}`", call->name.text),
                    "lin(FROM,TO,COUNT), log(FROM,TO,COUNT)");
  }
  const std::vector<Part> parts = split(item, ':');
  if (parts.size() > 1 &&
      std::ranges::any_of(parts, [](const Part& part) { return read_number(part.text).has_value(); }) &&
      (read_number(parts[0].text) || parts[0].text.empty()))
    return parse_range(item, parts);
  if (const std::optional<std::string> meant = range_with_dots(item.text))
    return error_at(item, "a range is written with colons", fmt::format("FROM:TO:STEP, as in `{}`", *meant));
  return WordList{{unescaped(item.text)}};
}

/// Whole ones as an int has them, but for -0.0, which is another value than 0.
std::string text_of_float(double number) {
  constexpr double int_limit = 9223372036854775808.0;  // 2^63
  const bool is_whole = number == std::trunc(number) && std::abs(number) < int_limit;
  if (!is_whole || (number == 0 && std::signbit(number))) return fmt::format("{}", number);
  return fmt::format_int(static_cast<std::int64_t>(number)).str();
}

}  // namespace

std::string short_text(double number) { return fmt::format("{:.12g}", number == 0 ? 0.0 : number); }

ValueType type_of(std::string_view text) {
  std::int64_t whole = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (fault == std::errc() && end == digits.data() + digits.size()) return ValueType::int_;
  return read_number(text) ? ValueType::float_ : ValueType::string;
}

ValueType common_type(ValueType one, ValueType other) { return std::max(one, other); }

std::string canonical_text(std::string_view value, ValueType read_as) {
  switch (read_as) {
    case ValueType::string: break;
    case ValueType::float_:
      if (const std::optional<double> number = read_number(value)) return text_of_float(*number);
      break;
    case ValueType::int_:
      if (type_of(value) == ValueType::int_) return fmt::format_int(read_int(value)).str();
      break;
  }
  return std::string(value);
}

std::string canonical_text(std::string_view value) { return canonical_text(value, type_of(value)); }

std::expected<Values, ArgumentError> Values::parse(std::string_view text, std::size_t offset) {
  Values values;
  for (const Part& item : split({text, offset}, ',')) {
    auto piece = parse_item(item);
    if (!piece) return std::unexpected(std::move(piece.error()));
    values.add(std::move(*piece));
  }
  return values;
}

Values Values::of_words(std::vector<std::string> words) {
  Values values;
  values.add(WordList{std::move(words)});
  return values;
}

void Values::add(Piece piece) {
  std::visit(
      [&](auto& own) {
        type_ = common_type(type_, type_of_piece(own));
        size_ += size_of(own);
      },
      piece);
  if (auto* words = std::get_if<WordList>(&piece); words != nullptr && !pieces_.empty()) {
    if (auto* last = std::get_if<WordList>(&pieces_.back())) {
      last->words.insert(last->words.end(), words->words.begin(), words->words.end());
      return;
    }
  }
  pieces_.push_back(std::move(piece));
}

std::string Values::at(std::uint64_t index) const {
  for (const Piece& piece : pieces_) {
    const std::uint64_t own = std::visit([](const auto& each) { return size_of(each); }, piece);
    if (index < own) return std::visit([&](const auto& each) { return text_at(each, index); }, piece);
    index -= own;
  }
  return {};
}

}  // namespace raddle::sweep
