#pragma once
// Numbers in memory that lie equally far apart.
#include <cstddef>
#include <cstdint>

namespace raddle::vm {

struct SpreadNumbers {
  void* first = nullptr;
  std::int64_t distance = 1;  ///< in numbers
  std::size_t size = 0;       ///< bytes of each: 1, 4 or 8

  /// @param to  numbers of the same size, which do not overlap these
  void copy_to(const SpreadNumbers& to, std::int64_t count) const {
    switch (size) {
      case 1: return copy<std::uint8_t>(to, count);
      case 4: return copy<std::uint32_t>(to, count);
      default: copy<std::uint64_t>(to, count);
    }
  }

 private:
  template <typename T>
  void copy(const SpreadNumbers& to, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i)
      static_cast<T*>(to.first)[i * to.distance] = static_cast<const T*>(first)[i * distance];
  }
};

}  // namespace raddle::vm
