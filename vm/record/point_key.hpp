#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace raddle::vm {

/// What work is asked by: equal keys are the same work.
struct PointKey {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const PointKey&) const = default;
  std::string bytes() const;
  static PointKey of_bytes(std::string_view bytes);
};

}  // namespace raddle::vm
