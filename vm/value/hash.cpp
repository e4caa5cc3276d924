#include "vm/value/hash.hpp"

#include <bit>
#include <cstring>

namespace raddle::vm {
namespace {

constexpr std::uint64_t factor_1 = 0x87C37B91114253D5, factor_2 = 0x4CF5AD432745937F;

std::uint64_t finished(std::uint64_t bits) {
  bits = (bits ^ bits >> 33) * 0xFF51AFD7ED558CCD;
  bits = (bits ^ bits >> 33) * 0xC4CEB9FE1A85EC53;
  return bits ^ bits >> 33;
}

std::uint64_t mixed_1(std::uint64_t bits) { return std::rotl(bits * factor_1, 31) * factor_2; }
std::uint64_t mixed_2(std::uint64_t bits) { return std::rotl(bits * factor_2, 33) * factor_1; }

}  // namespace

Hash128 hash(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t high = seed, low = seed;  // named h2 and h1 in the original
  const std::size_t length = bytes.size();
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    std::uint64_t words[2];
    std::memcpy(words, bytes.data(), 16);
    low = (std::rotl(low ^ mixed_1(words[0]), 27) + high) * 5 + 0x52DCE729;
    high = (std::rotl(high ^ mixed_2(words[1]), 31) + low) * 5 + 0x38495AB5;
  }
  std::uint64_t rest[2] = {};
  std::memcpy(rest, bytes.data(), bytes.size());
  high ^= bytes.size() > 8 ? mixed_2(rest[1]) : 0;
  low ^= bytes.empty() ? 0 : mixed_1(rest[0]);
  low ^= length;
  high ^= length;
  low += high;
  high += low;
  low = finished(low);
  high = finished(high);
  low += high;
  return {high + low, low};
}

}  // namespace raddle::vm
