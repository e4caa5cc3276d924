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

std::optional<std::int64_t> read_number(std::string_view& text) {
  const auto is_digit = [&] { return !text.empty() && text.front() >= '0' && text.front() <= '9'; };
  if (!is_digit()) return std::nullopt;
  std::int64_t number = 0;
  for (; is_digit(); text.remove_prefix(1)) number = std::min(number * 10 + (text.front() - '0'), widest + 1);
  return number;
}

/// `2$`; else nothing is taken.
std::optional<std::int64_t> read_position(std::string_view& text) {
  std::string_view rest = text;
  const auto position = read_number(rest);
  if (!position || !rest.starts_with('$')) return std::nullopt;
  text = rest.substr(1);
  return position;
}

FormatField read_field(std::string_view& text) {
  if (!text.starts_with('*')) return {.number = read_number(text)};
  text.remove_prefix(1);
  return {.is_star = true};
}

/// With what the values say in place of `*`.
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
        one(read_specifier(rest_));
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

  std::optional<std::int64_t> value_of(const FormatField& field) {
    return field.is_star ? int_of(next_value()) : field.number;
  }

  void one(const FormatSpecifier& written) {
    const auto& position = written.position;
    choose_order(position.has_value());
    if (position) next_ = *position == 0 ? values_.size() : static_cast<std::size_t>(*position - 1);
    Specifier specifier{.flags = written.flags, .width = value_of(written.width), .precision = {}};
    if (specifier.width && *specifier.width < 0) {
      specifier.flags += '-';
      specifier.width = -std::max(*specifier.width, -widest - 1);
    }
    if (written.precision) specifier.precision = std::max(value_of(*written.precision).value_or(0), std::int64_t{0});
    if (specifier.width.value_or(0) > widest || specifier.precision.value_or(0) > widest) {
      return fail(fmt::format("a width or precision of a format is over {}", widest));
    }
    if (!error_.empty()) return;
    if (written.conversion.empty()) return fail("format string ended in middle of field specifier");
    specifier.conversion = written.conversion.size() == 1 ? written.conversion.front() : '\0';
    convert(specifier, written.conversion);
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
    if (value.kind() == ValueKind::int_ || value.kind() == ValueKind::int32) return value.as_int();
    if (value.kind() == ValueKind::boolean) return value.as_bool() ? 1 : 0;
    const std::string text = vm::to_text(value);
    if (value.kind() == ValueKind::string) {
      if (const auto number = native::read_int(text)) return *number;
    }
    fail(fmt::format("expected integer but got \"{}\"", text));
    return 0;
  }

  double float_of(const Value& value) {
    if (value.kind() == ValueKind::float_ || value.kind() == ValueKind::float32) return value.as_float();
    if (value.kind() == ValueKind::int_ || value.kind() == ValueKind::int32) return static_cast<double>(value.as_int());
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

FormatSpecifier read_specifier(std::string_view& format) {
  const std::string_view begin = format;
  format.remove_prefix(1);
  FormatSpecifier found{.position = read_position(format)};
  for (; !format.empty() && std::string_view("-+0 #").contains(format.front()); format.remove_prefix(1))
    if (!found.flags.contains(format.front())) found.flags += format.front();
  found.width = read_field(format);
  if (format.starts_with('.')) {
    format.remove_prefix(1);
    found.precision = read_field(format);
  }
  while (!format.empty() && std::string_view("hlL").contains(format.front())) format.remove_prefix(1);
  if (!format.empty()) found.conversion = format.substr(0, native::utf8_width(format, 0));
  format.remove_prefix(found.conversion.size());
  found.written = begin.substr(0, begin.size() - format.size());
  return found;
}

std::expected<std::string, std::string> format_text(std::string_view format, std::span<const Value> values) {
  return Formatter(format, values).run();
}

}  // namespace raddle::stdlib
