#include "stdlib/native/format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <optional>

#include "stdlib/native/parse_number.hpp"
#include "stdlib/native/utf8.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib {
namespace {

using vm::Value;
using vm::ValueKind;

constexpr std::int64_t widest = 1 << 24;  // a width beyond is a mistake, not a wish

struct Specifier {
  std::string flags;
  std::optional<std::int64_t> width, precision;
  char conversion = 0;
  bool has_flag(char flag) const { return flags.find(flag) != std::string::npos; }
};

class Formatter {
 public:
  Formatter(std::string_view format, std::span<const Value> values) : rest_(format), values_(values) {}

  std::expected<std::string, std::string> run() {
    while (!rest_.empty() && error_.empty()) {
      const std::size_t percent = std::min(rest_.find('%'), rest_.size());
      out_ += rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (rest_.starts_with("%%")) {
        out_ += '%';
        rest_.remove_prefix(2);
      } else if (!rest_.empty()) {
        rest_.remove_prefix(1);
        one();
      }
    }
    if (!error_.empty()) return std::unexpected(std::move(error_));
    return std::move(out_);
  }

 private:
  enum class Order : unsigned char { unknown, sequential, positional };

  void fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  char peek() const { return rest_.empty() ? '\0' : rest_[0]; }

  std::optional<std::int64_t> read_number() {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    std::int64_t number = 0;
    for (; peek() >= '0' && peek() <= '9'; rest_.remove_prefix(1)) {
      number = std::min(number * 10 + (peek() - '0'), widest + 1);
    }
    return number;
  }

  // `2$` behind the percent sign; else nothing is taken.
  std::optional<std::int64_t> read_position() {
    const std::string_view before = rest_;
    const auto position = read_number();
    if (position && peek() == '$') {
      rest_.remove_prefix(1);
      return position;
    }
    rest_ = before;
    return std::nullopt;
  }

  void choose_order(bool positional) {
    const Order order = positional ? Order::positional : Order::sequential;
    if (order_ != Order::unknown && order_ != order) {
      fail("cannot mix \"%\" and \"%n$\" conversion specifiers");
    }
    order_ = order;
  }

  Value next_value() {
    if (next_ < values_.size()) return values_[next_++];
    fail(order_ == Order::positional ? "\"%n$\" argument index out of range"
                                     : "not enough arguments for all format specifiers");
    return Value::of(std::int64_t{0});
  }

  std::optional<std::int64_t> read_width_or_star() {
    if (peek() != '*') return read_number();
    rest_.remove_prefix(1);
    return int_of(next_value());
  }

  void one() {
    Specifier specifier;
    const auto position = read_position();
    choose_order(position.has_value());
    if (position) next_ = *position == 0 ? values_.size() : static_cast<std::size_t>(*position - 1);
    for (; peek() != '\0' && std::string_view("-+0 #").contains(peek()); rest_.remove_prefix(1)) {
      if (!specifier.has_flag(peek())) specifier.flags += peek();
    }
    specifier.width = read_width_or_star();
    if (specifier.width && *specifier.width < 0) {
      specifier.flags += '-';
      specifier.width = -std::max(*specifier.width, -widest - 1);
    }
    if (peek() == '.') {
      rest_.remove_prefix(1);
      specifier.precision = std::max(read_width_or_star().value_or(0), std::int64_t{0});
    }
    if (specifier.width.value_or(0) > widest || specifier.precision.value_or(0) > widest) {
      return fail(fmt::format("a width or precision of a format is over {}", widest));
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'L') rest_.remove_prefix(1);
    if (!error_.empty()) return;
    if (rest_.empty()) return fail("format string ended in middle of field specifier");
    const std::size_t conversion_width = native::utf8_width(rest_, 0);
    specifier.conversion = conversion_width == 1 ? rest_[0] : '\0';
    const std::string_view conversion = rest_.substr(0, conversion_width);
    rest_.remove_prefix(conversion_width);
    convert(specifier, conversion);
  }

  void convert(const Specifier& specifier, std::string_view conversion) {
    switch (specifier.conversion) {
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': return convert_int(specifier);
      case 'b': return convert_binary(specifier);
      case 'c': return convert_character(specifier);
      case 's': return convert_string(specifier);
      case 'f':
      case 'e':
      case 'E':
      case 'g':
      case 'G': return convert_float(specifier);
    }
    fail(fmt::format("bad field specifier \"{}\"", conversion));
  }

  std::int64_t int_of(const Value& value) {
    if (value.kind() == ValueKind::int_) return value.as_int();
    if (value.kind() == ValueKind::boolean) return value.as_bool() ? 1 : 0;
    const std::string text = vm::to_text(value);
    if (value.kind() == ValueKind::string) {
      if (const auto number = native::read_int(text)) return *number;
    }
    fail(fmt::format("expected integer but got \"{}\"", text));
    return 0;
  }

  double float_of(const Value& value) {
    if (value.kind() == ValueKind::float_) return value.as_float();
    if (value.kind() == ValueKind::int_) return static_cast<double>(value.as_int());
    if (value.kind() == ValueKind::boolean) return value.as_bool() ? 1 : 0;
    const std::string text = vm::to_text(value);
    if (const auto number = native::read_float(text)) return *number;
    fail(fmt::format("expected floating-point number but got \"{}\"", text));
    return 0;
  }

  // `size`: "ll" for int64, "" for double.
  template <typename T>
  void convert_by_c(const Specifier& specifier, const char* size, T value) {
    std::string c_format = "%" + specifier.flags;
    if (specifier.width) c_format += std::to_string(*specifier.width);
    if (specifier.precision) c_format += "." + std::to_string(*specifier.precision);
    (c_format += size) += specifier.conversion;
    const int length = std::snprintf(nullptr, 0, c_format.c_str(), value);
    const std::size_t begin = out_.size();
    out_.resize(begin + static_cast<std::size_t>(length) + 1);  // snprintf ends it with a zero
    std::snprintf(out_.data() + begin, static_cast<std::size_t>(length) + 1, c_format.c_str(), value);
    out_.pop_back();
  }

  void convert_int(const Specifier& specifier) {
    const std::int64_t value = int_of(next_value());
    if (error_.empty()) convert_by_c(specifier, "ll", static_cast<long long>(value));
  }

  void convert_binary(const Specifier& specifier) {
    const auto value = static_cast<std::uint64_t>(int_of(next_value()));
    if (!error_.empty()) return;
    const std::string digits = fmt::format("{:b}", value);
    const auto missing = specifier.precision.value_or(0) - static_cast<std::int64_t>(digits.size());
    pad(specifier, (specifier.has_flag('#') ? "0b" : "") +
                       std::string(static_cast<std::size_t>(std::max(missing, std::int64_t{0})), '0') + digits);
  }

  void convert_character(const Specifier& specifier) {
    const std::int64_t code_point = int_of(next_value());
    if (!error_.empty()) return;
    std::string text;
    native::utf8_append(text,
                        code_point < 0 || code_point > 0x10ffff ? 0xfffd : static_cast<std::uint32_t>(code_point));
    pad(specifier, text);
  }

  void convert_string(const Specifier& specifier) {
    const std::string text = vm::to_text(next_value());
    if (!error_.empty()) return;
    if (!specifier.precision) return pad(specifier, text);
    pad(specifier,
        std::string_view(text).substr(0, native::utf8_offset(text, static_cast<std::size_t>(*specifier.precision))));
  }

  void convert_float(const Specifier& specifier) {
    const double value = float_of(next_value());
    if (!error_.empty()) return;
    if (std::isfinite(value)) return convert_by_c(specifier, "", value);
    const std::string text = vm::float_text(value);  // `Inf`, as everywhere else
    Specifier spaces = specifier;
    std::erase(spaces.flags, '0');
    pad(spaces, specifier.has_flag('+') && !text.starts_with('-') ? "+" + text : text);
  }

  void pad(const Specifier& specifier, std::string_view text) {
    const std::size_t length = specifier.width ? native::utf8_length(text) : 0;
    const auto width = static_cast<std::size_t>(specifier.width.value_or(0));
    const std::string filling(width > length ? width - length : 0,
                              specifier.has_flag('0') && !specifier.has_flag('-') ? '0' : ' ');
    if (!specifier.has_flag('-')) out_ += filling;
    out_ += text;
    if (specifier.has_flag('-')) out_ += filling;
  }

  std::string_view rest_;
  std::span<const Value> values_;
  std::size_t next_ = 0;
  Order order_ = Order::unknown;
  std::string out_, error_;
};

}  // namespace

std::expected<std::string, std::string> format_text(std::string_view format, std::span<const Value> values) {
  return Formatter(format, values).run();
}

}  // namespace raddle::stdlib
