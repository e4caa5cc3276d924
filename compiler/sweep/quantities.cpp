#include "compiler/sweep/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace raddle::sweep {

std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} d {} h", with_commas(whole / 86400), whole / 3600 % 24);
}

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
