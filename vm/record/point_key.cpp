#include "vm/record/point_key.hpp"

namespace raddle::vm {

std::string PointKey::bytes() const {
  std::string bytes;
  for (const std::uint64_t half : {high, low})
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift);
  return bytes;
}

PointKey PointKey::of_bytes(std::string_view bytes) {
  PointKey key;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint64_t& half = i < sizeof key.high ? key.high : key.low;
    half = half << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return key;
}

}  // namespace raddle::vm
