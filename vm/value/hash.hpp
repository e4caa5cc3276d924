#pragma once
#include <cstdint>
#include <string_view>

namespace raddle::vm {

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  Hash128& operator+=(const Hash128& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
  Hash128& operator-=(const Hash128& other) {
    high -= other.high;
    low -= other.low;
    return *this;
  }
  bool operator==(const Hash128&) const = default;
};

/// MurmurHash3 for 64-bit machines, 128 bits (Appleby, public domain). Kept in records: never to be changed.
Hash128 hash(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace raddle::vm
