#include "compiler/tool/space/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/tool/formats/scan.hpp"

namespace raddle::sweep {
namespace {

std::uint64_t size_of(const WordList& list) { return list.words.size(); }
std::uint64_t size_of(const DecimalRange& range) { return range.count; }
std::uint64_t size_of(const SpacedRange& range) { return range.count; }

std::string text_at(const WordList& list, std::uint64_t index) { return list.words[index]; }

ValueType type_of_piece(const WordList& list) {
  ValueType type = list.is_quoted ? ValueType::string : ValueType::int_;
  for (const std::string& word : list.words) type = common_type(type, type_of(word));
  return type;
}
ValueType type_of_piece(const DecimalRange& range) { return range.decimals == 0 ? ValueType::int_ : ValueType::float_; }
ValueType type_of_piece(const SpacedRange& range) { return is_whole(range) ? ValueType::int_ : ValueType::float_; }

void add_cell_type(ColumnType& column, const WordList& list) {
  for (const std::string& word : list.words) column.add(list.is_quoted ? CellType::string : type_of_cell(word));
}
template <typename Range>
void add_cell_type(ColumnType& column, const Range& range) {
  column.add(type_of_piece(range) == ValueType::int_ ? CellType::int_ : CellType::float_);
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

using Parsed = std::expected<std::variant<WordList, DecimalRange, SpacedRange>, ArgumentError>;

Parsed parse_item(const Part& item) {
  if (item.text.empty()) return error_at(item, "a value is missing", "an empty value is written `\"\"`");
  if (item.text.starts_with('"')) {
    if (const std::optional<std::string> word = unquoted(item.text)) return WordList{{*word}, /*is_quoted=*/true};
    return error_at(item, "the quotes do not end with the value",
                    "quotes around a value as in CSV, with `\"\"` for one of its own: `\"a,b\"`, `\"say \"\"hi\"\"\"`");
  }
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

/// @pre type_of(whole) is ValueType::int_
bool is_exact_float(std::string_view whole) {
  const std::int64_t number = read_int(whole);
  const auto nearest = static_cast<double>(number);
  return nearest < 0x1p63 && static_cast<std::int64_t>(nearest) == number;
}

}  // namespace

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
        add_cell_type(cell_type_, own);
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

std::optional<std::string> Values::lost_in_floats() const {
  for (const Piece& piece : pieces_) {
    const auto* const range = std::get_if<DecimalRange>(&piece);
    if (range == nullptr || range->count < 2) continue;
    // floats lie farthest apart at one of its ends
    for (const std::uint64_t index : {std::uint64_t{0}, range->count - 2}) {
      const std::string one = text_at(*range, index), next = text_at(*range, index + 1);
      for (const std::string& each : {one, next})
        if (range->decimals == 0 && !is_exact_float(each)) return each;
      if (read_number(one) == read_number(next)) return next;
    }
  }
  return std::nullopt;
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
