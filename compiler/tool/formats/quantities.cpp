#include "compiler/tool/formats/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace raddle::sweep {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit times[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400.0}};
constexpr Unit sizes[] = {{"", 1}, {"k", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1099511627776.0}};

/// A number and one of the units, `30d`.
std::optional<double> quantity(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || !(number >= 0)) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  for (const Unit& each : units)
    if (each.name == unit) return number * each.factor;
  return std::nullopt;
}

}  // namespace

std::string shortened(const std::string& text) {
  constexpr std::size_t most = 1000, kept = 500;
  if (text.size() <= most) return text;
  std::size_t end = kept;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // no part of a character
  return fmt::format("{}.. ({} bytes)", text.substr(0, end), with_commas(text.size()));
}

std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : "s");
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {} h", with_commas(whole / 86400), whole / 3600 % 24);
}

std::string seconds_text(double seconds) {
  return seconds < 60 ? fmt::format("{:.1f} s", seconds) : duration_text(seconds);
}

std::optional<double> read_duration(std::string_view text) { return quantity(text, times); }

std::optional<double> read_size(std::string_view text) { return quantity(text, sizes); }

std::string size_text(std::uint64_t bytes) {
  constexpr double next = 1024;
  auto size = static_cast<double>(bytes);
  if (size < next) return fmt::format("{} B", bytes);
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    size /= next;
    if (size < next) return fmt::format("{:.1f} {}", size, unit);
  }
  return fmt::format("{:.1f} TiB", size / next);
}

}  // namespace raddle::sweep
