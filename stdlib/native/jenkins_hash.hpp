#pragma once
// Bob Jenkins's lookup3 ("hashlittle" with initial value 0), what Swift/T's hash() is made of.
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace raddle::stdlib::native {

inline std::uint32_t jenkins_hash(std::string_view text) {
  const std::uint32_t start = 0xdeadbeef + static_cast<std::uint32_t>(text.size());
  std::uint32_t a = start, b = start, c = start;
  if (text.empty()) return c;
  const auto add_block = [&](std::string_view block) {  // of 1 to 12 bytes, little endian
    std::array<std::uint32_t, 3> words{};
    for (std::size_t i = 0; i < block.size(); ++i) {
      words[i / 4] += std::uint32_t{static_cast<unsigned char>(block[i])} << (8 * (i % 4));
    }
    a += words[0];
    b += words[1];
    c += words[2];
  };
  for (; text.size() > 12; text.remove_prefix(12)) {
    add_block(text.substr(0, 12));
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  add_block(text);
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

}  // namespace raddle::stdlib::native
