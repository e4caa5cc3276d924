#include "compiler/tool/space/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace raddle::sweep {
namespace {

using Mantissa = DecimalRange::Mantissa;

constexpr unsigned most_decimals = 15;
constexpr long most_digits = 30;  // of a value, zeros at its end included: differences of two fit into a Mantissa
constexpr const char* other_range = "lin(FROM,TO,COUNT) has no such limit";

/// A number as it is written: `digits * 10^exponent`, without zeros at either end of the digits; none: it is 0.
struct Digits {
  bool is_negative = false;
  std::string digits = {};
  long exponent = 0;
  unsigned long decimals = 0;  ///< behind the point: 1.50 has 2, 1e-3 has 3
  bool operator==(const Digits& other) const {
    return digits == other.digits &&
           (digits.empty() || (is_negative == other.is_negative && exponent == other.exponent));
  }
};

/// @pre read_number(text)
Digits digits_of(std::string_view text) {
  Digits number{.is_negative = text.starts_with('-')};
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  bool is_behind_point = false;
  for (const char sign : text.substr(0, exponent_at)) {
    is_behind_point |= sign == '.';
    if (sign < '0' || sign > '9') continue;
    if (sign != '0' || !number.digits.empty()) number.digits += sign;
    if (is_behind_point) --number.exponent;
  }
  if (exponent_at < text.size()) {
    const std::string_view written = text.substr(exponent_at + (text[exponent_at + 1] == '+' ? 2 : 1));
    long exponent = 0;
    std::from_chars(written.data(), written.data() + written.size(), exponent);
    number.exponent += exponent;
  }
  number.decimals = static_cast<unsigned long>(std::max(-number.exponent, 0L));
  while (number.digits.ends_with('0')) {
    number.digits.pop_back();
    ++number.exponent;
  }
  return number;
}

/// In units of `10^-decimals`. @pre at most most_digits of them
Mantissa mantissa_of(const Digits& number, unsigned decimals) {
  Mantissa mantissa = 0;
  for (const char digit : number.digits) mantissa = mantissa * 10 + (digit - '0');
  for (long i = 0; mantissa != 0 && i < number.exponent + static_cast<long>(decimals); ++i) mantissa *= 10;
  return number.is_negative ? -mantissa : mantissa;
}

/// The number, or an error that says what it is of.
std::expected<double, ArgumentError> number_of(const Part& part, std::string_view what) {
  if (const std::optional<double> number = read_number(part.text)) return *number;
  return error_at(part, part.text.empty() ? fmt::format("{} is missing", what)
                                          : fmt::format("{} `{}` is no number", what, part.text));
}

/// The power of ten that is not above the number.
std::string power_below(double number) {
  const std::string text = fmt::format("{:e}", number);
  return fmt::format("{}", read_number("1" + text.substr(text.find('e'))).value_or(1));
}

/// The same as it is written, if that is the shortest text of a float.
std::expected<SpacedRange::End, ArgumentError> end_of(const Part& part, std::string_view what) {
  const auto number = number_of(part, what);
  if (!number) return std::unexpected(number.error());
  const std::string kept = fmt::format("{}", *number);
  const Digits written = digits_of(part.text);
  if (written == digits_of(kept))
    return SpacedRange::End{static_cast<std::int64_t>(mantissa_of({written.is_negative, written.digits}, 0)),
                            written.exponent};
  return error_at(part, fmt::format("{} `{}` can not be kept exactly: as a float it is {}", what, part.text, kept));
}

/// Both ends in units of `10^exponent`, so that all between are quotients of whole numbers.
struct CommonEnds {
  Mantissa from = 0, to = 0;
  long exponent = 0;
};

/// @return none: they lie too far apart for that
std::optional<CommonEnds> common_ends(const SpacedRange& range) {
  constexpr long most = 22;  // digits: times most_values they fit into a Mantissa
  const auto& [from, to, is_logarithmic, count, log_from, log_to] = range;
  const long exponent = from.mantissa == 0 ? to.exponent
                        : to.mantissa == 0 ? from.exponent
                                           : std::min(from.exponent, to.exponent);
  const auto shifted = [exponent](const SpacedRange::End& end) -> std::optional<Mantissa> {
    if (end.mantissa == 0) return 0;
    const long zeros = end.exponent - exponent;
    if (static_cast<long>(fmt::format_int(end.mantissa).size()) + zeros > most) return std::nullopt;
    Mantissa mantissa = end.mantissa;
    for (long i = 0; i < zeros; ++i) mantissa *= 10;
    return mantissa;
  };
  const std::optional<Mantissa> first = shifted(from), last = shifted(to);
  if (!first || !last) return std::nullopt;
  return CommonEnds{*first, *last, exponent};
}

/// `numerator / denominator * 10^exponent`, if both sides of the fraction are floats: their quotient is rounded to the
/// nearest one.
std::optional<double> quotient_of_floats(Mantissa numerator, std::uint64_t denominator, long exponent) {
  constexpr Mantissa most = Mantissa{1} << std::numeric_limits<double>::digits;
  if (exponent > 0) return std::nullopt;
  Mantissa below = denominator;
  for (; exponent < 0 && below <= most; ++exponent) below *= 10;
  if (below > most || numerator > most || numerator < -most) return std::nullopt;
  return static_cast<double>(numerator) / static_cast<double>(below);
}

/// The float that is nearest to `numerator / denominator * 10^exponent`.
double nearest_float(Mantissa numerator, std::uint64_t denominator, long exponent) {
  __extension__ using Magnitude = unsigned __int128;
  constexpr int more_digits = 45;  // behind the whole part: 30 that count, and a last one for all that follow
  if (const std::optional<double> quotient = quotient_of_floats(numerator, denominator, exponent)) return *quotient;
  const bool is_negative = numerator < 0;
  const Magnitude magnitude = is_negative ? -static_cast<Magnitude>(numerator) : static_cast<Magnitude>(numerator);
  std::string text = fmt::format("{}{}", is_negative ? "-" : "", magnitude / denominator);
  auto rest = static_cast<std::uint64_t>(magnitude % denominator);  // 1e15 at most
  for (int i = 0; i < more_digits; ++i) {
    rest *= 10;
    text += static_cast<char>('0' + rest / denominator);
    rest %= denominator;
  }
  if (rest != 0) text += '1';
  text += fmt::format("e{}", exponent - more_digits - (rest != 0 ? 1 : 0));
  return read_number(text).value_or(0);  // too small for a float
}

Quad quad_of_end(const SpacedRange::End& end) { return quad_of(end.mantissa, end.exponent); }

double value_at(const SpacedRange& range, std::uint64_t index) {
  const std::uint64_t steps = std::max<std::uint64_t>(range.count - 1, 1);
  if (range.is_logarithmic && index != 0 && index != steps)
    return static_cast<double>(exp((range.log_from * (steps - index) + range.log_to * index) / steps));
  if (index == 0) return static_cast<double>(quad_of_end(range.from));
  if (index == steps) return static_cast<double>(quad_of_end(range.to));
  if (const std::optional<CommonEnds> ends = common_ends(range))
    return nearest_float(ends->from * (steps - index) + ends->to * index, steps, ends->exponent);
  return static_cast<double>((quad_of_end(range.from) * (steps - index) + quad_of_end(range.to) * index) / steps);
}

}  // namespace

std::string text_at(const DecimalRange& range, std::uint64_t index) {
  __extension__ using Magnitude = unsigned __int128;
  const Mantissa mantissa = range.from + static_cast<Mantissa>(index) * range.step;
  const bool is_negative = mantissa < 0;
  const Magnitude magnitude = is_negative ? -static_cast<Magnitude>(mantissa) : static_cast<Magnitude>(mantissa);
  std::string text = fmt::format("{}{:0{}}", is_negative ? "-" : "", magnitude, range.decimals + 1);
  if (range.decimals == 0) return text;
  text.insert(text.size() - range.decimals, 1, '.');
  // one number has one text, whatever the step: a program's points are found in the record by their texts
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string text_at(const SpacedRange& range, std::uint64_t index) {
  const double value = value_at(range, index);
  return fmt::format("{}", value == 0 ? 0.0 : value);  // no -0
}

bool is_whole(const SpacedRange& range) {
  if (range.is_logarithmic) return false;
  constexpr double most = 1e15;  // text has no exponent, and differences are exact
  const double steps = static_cast<double>(std::max<std::uint64_t>(range.count - 1, 1));
  const double from = value_at(range, 0), to = value_at(range, range.count - 1);
  return from == std::trunc(from) && std::fmod(to - from, steps) == 0 && std::max(std::abs(from), std::abs(to)) <= most;
}

std::expected<DecimalRange, ArgumentError> parse_range(const Part& whole, const std::vector<Part>& parts) {
  constexpr const char* form = "a range is written FROM:TO or FROM:TO:STEP; both ends are values";
  if (parts.size() > 3) return error_at(parts[3], "a range has no fourth part", form);
  constexpr std::string_view names[] = {"the range's first value", "the range's last value", "the range's step"};
  double numbers[3] = {0, 0, 1};
  Digits written[3] = {{}, {}, {.digits = "1"}};
  DecimalRange range;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = number_of(parts[i], names[i]);
    if (!number) return std::unexpected(number.error());
    numbers[i] = *number;
    written[i] = digits_of(parts[i].text);
    if (written[i].decimals > most_decimals)
      return error_at(parts[i], "a range counts in at most 15 decimals", other_range);
    range.decimals = std::max(range.decimals, static_cast<unsigned>(written[i].decimals));
  }
  if (numbers[2] == 0) return error_at(parts[2], "the range's step is 0");
  if ((numbers[1] - numbers[0]) / numbers[2] > most_values) return error_at(whole, "the range has too many values");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [is_negative, digits, exponent, decimals] = written[i];
    if (!digits.empty() && static_cast<long>(digits.size()) + exponent + range.decimals > most_digits)
      return error_at(parts[i], "a range counts with at most 30 digits", other_range);
    const Mantissa value = mantissa_of(written[i], range.decimals);
    using Limits = std::numeric_limits<std::int64_t>;
    if (i < 2 && range.decimals == 0 && (value < Limits::min() || value > Limits::max()))
      return error_at(parts[i], fmt::format("a range of ints goes from {} to {}", Limits::min(), Limits::max()));
  }
  range.from = mantissa_of(written[0], range.decimals);
  range.step = mantissa_of(written[2], range.decimals);
  const Mantissa distance = mantissa_of(written[1], range.decimals) - range.from;
  if (distance != 0 && (distance < 0) != (range.step < 0)) {
    const std::string_view step = parts.size() == 2 ? "1" : parts[2].text;
    const bool goes_beyond = (distance < 0 ? -distance : distance) < (range.step < 0 ? -range.step : range.step);
    const std::string size = goes_beyond
                                 ? power_below(std::abs(numbers[1] - numbers[0]) / 2)
                                 : std::string(step.substr(step.starts_with('-') || step.starts_with('+') ? 1 : 0));
    const std::string help = fmt::format("{}:{}:{}{} counts {}", parts[0].text, parts[1].text, distance < 0 ? "-" : "",
                                         size, distance < 0 ? "down" : "up");
    return error_at(whole,
                    fmt::format("the range is empty: {} is {} {}", parts[1].text, range.step > 0 ? "below" : "above",
                                parts[0].text),
                    help);
  }
  if (distance != 0 && (range.step > 0 ? distance < range.step : distance > range.step)) {
    const double half = (numbers[1] - numbers[0]) / 2;
    return error_at(
        whole,
        fmt::format("the range has one value only, {}: {}", parts[0].text,
                    parts.size() == 2 ? "without a third part its step is 1"
                                      : fmt::format("its step of {} goes beyond {}", parts[2].text, parts[1].text)),
        fmt::format("FROM:TO:STEP, as in `{}:{}:{}`", parts[0].text, parts[1].text,
                    half < 0 ? "-" + power_below(-half) : power_below(half)));
  }
  range.count = static_cast<std::uint64_t>(distance / range.step) + 1;
  return range;
}

std::expected<SpacedRange, ArgumentError> parse_spaced(const Part& whole, const FunctionCall& call) {
  const bool is_logarithmic = call.name.text == "log";
  if (call.arguments.size() != 3)
    return error_at(whole, fmt::format("`{}` takes three values, not {}", call.name.text, call.arguments.size()),
                    fmt::format("{}(FROM,TO,COUNT); both ends are values", call.name.text));
  const auto from = end_of(call.arguments[0], "the first value"), to = end_of(call.arguments[1], "the last value");
  if (!from) return std::unexpected(from.error());
  if (!to) return std::unexpected(to.error());
  for (std::size_t i = 0; is_logarithmic && i < 2; ++i)
    if ((i == 0 ? *from : *to).mantissa <= 0)
      return error_at(call.arguments[i], "`log` goes from a positive value to a positive one");
  const Part& count_part = call.arguments[2];
  const std::optional<std::uint64_t> count = read_count(count_part.text);
  if (!count || *count == 0)
    return error_at(count_part, fmt::format("the count `{}` is no whole number from 1 on", count_part.text));
  if (static_cast<double>(*count) > most_values) return error_at(count_part, "the range has too many values");
  SpacedRange range{.from = *from, .to = *to, .is_logarithmic = is_logarithmic, .count = *count};
  if (*count == 1 && quad_of_end(*from) != quad_of_end(*to))
    return error_at(count_part, "a single value can not be both ends");
  if (is_logarithmic) {
    range.log_from = log(quad_of_end(*from));
    range.log_to = log(quad_of_end(*to));
  }
  return range;
}

}  // namespace raddle::sweep
