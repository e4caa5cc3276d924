// Times as text, and back: seconds since 1970.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "stdlib/native/functions.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// A time as C's strftime writes it. @error the text of one
std::expected<std::string, std::string> time_text(double time, const std::string& wanted, bool is_local) {
  if (!(std::abs(time) < 1e15)) return std::unexpected("the time is out of range");
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  if (is_local)
    localtime_r(&seconds, &parts);
  else
    gmtime_r(&seconds, &parts);
  const std::string format = "x" + wanted;  // an empty result can not be told from a short buffer
  if (vm::has_zero_byte(format)) return std::unexpected("a character of the format is NUL");
  const std::size_t longest = (std::size_t{1} << 20) + 64 * format.size();
  std::string text(256, '\0');
  std::size_t length = 0;
  while ((length = std::strftime(text.data(), text.size(), format.c_str(), &parts)) == 0) {
    if (text.size() > longest) return std::unexpected("the text is too long: a width in the format must be a mistake");
    text.resize(2 * text.size());
  }
  return text.substr(1, length - 1);
}

double seconds_of(const Value& time) {
  return time.kind() == vm::ValueKind::int_ ? static_cast<double>(time.as_int()) : time.as_float();
}

/// Reads a date from its beginning to its end.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  /// `2024-02-29`, and what may follow: see `raddle doc parse_date`.
  std::optional<double> read() {
    std::tm parts{};
    if (!number(4, parts.tm_year) || !take('-') || !number(2, parts.tm_mon) || !take('-') || !number(2, parts.tm_mday))
      return std::nullopt;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    double fraction = 0;
    int zone_s = 0;
    if (take('T') || take(' ')) {
      if (!number(2, parts.tm_hour) || !take(':') || !number(2, parts.tm_min)) return std::nullopt;
      if (take(':') && !number(2, parts.tm_sec)) return std::nullopt;
      if (parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60) return std::nullopt;
      if (take('.')) fraction = read_fraction();
      if (!read_zone(zone_s)) return std::nullopt;
    }
    if (!text_.empty() || std::isnan(fraction)) return std::nullopt;
    const std::tm written = parts;
    const std::time_t seconds = timegm(&parts);
    if (parts.tm_mon != written.tm_mon || (written.tm_sec < 60 && parts.tm_mday != written.tm_mday))
      return std::nullopt;  // the 30th of February
    return static_cast<double>(seconds - zone_s) + fraction;
  }

 private:
  bool take(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool number(std::size_t digits, int& value) {
    if (text_.size() < digits) return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      value = 10 * value + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return true;
  }
  /// NaN: there are no digits.
  double read_fraction() {
    std::string digits = "0.";
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1))
      digits += text_.front();
    return digits.size() > 2 ? std::strtod(digits.c_str(), nullptr) : NAN;
  }
  /// `Z`, `+01:00`, `-0530`, or nothing.
  bool read_zone(int& seconds) {
    if (text_.empty() || take('Z')) return true;
    const bool is_west = text_.front() == '-';
    if (!take('+') && !take('-')) return false;
    int hours = 0, minutes = 0;
    if (!number(2, hours)) return false;
    take(':');
    if (!number(2, minutes) || hours > 23 || minutes > 59) return false;
    seconds = (is_west ? -60 : 60) * (60 * hours + minutes);
    return true;
  }

  std::string_view text_;
};

std::optional<double> date_by_format(const std::string& text, const std::string& format) {
  std::tm parts{};
  parts.tm_year = 70;
  parts.tm_mday = 1;
  const char* end = strptime(text.c_str(), format.c_str(), &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::tm read = parts;
  const std::time_t seconds = timegm(&parts);  // it takes no notice of the zone
  if (parts.tm_mon != read.tm_mon || parts.tm_mday != read.tm_mday) return std::nullopt;
  return static_cast<double>(seconds - read.tm_gmtoff);
}

}  // namespace

Result parse_date(Call, Arguments arguments, Results results) {
  const std::string &text = arguments[0].as_string(), &format = arguments[1].as_string();
  const bool has_zero = vm::has_zero_byte(text) || vm::has_zero_byte(format);
  const auto seconds = has_zero         ? std::nullopt
                       : format.empty() ? DateReader(text).read()
                                        : date_by_format(text, format);
  if (seconds) return give(results, Value::of(*seconds));
  if (format.empty())
    return fail(fmt::format("parse_date: `{}` is no date like `2024-02-29` or `2024-02-29T12:30:00`", text));
  return fail(fmt::format("parse_date: `{}` is no date of the format `{}`", text, format));
}

Result format_date(Call, Arguments arguments, Results results) {
  auto text = time_text(std::floor(seconds_of(arguments[0])), arguments[1].as_string(), false);
  if (!text) return fail("format_date: " + text.error());
  return give(results, Value::of(std::move(*text)));
}

Result clock_format(Call, Arguments arguments, Results results) {
  auto text = time_text(std::round(seconds_of(arguments[1])), arguments[0].as_string(), true);
  if (!text) return fail("clock_format: " + text.error());
  return give(results, Value::of(std::move(*text)));
}

}  // namespace raddle::stdlib::native
