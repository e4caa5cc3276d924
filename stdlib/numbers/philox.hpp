#pragma once
// Philox4x32-10: counter-based random numbers. A block is a function of its counter and key only, so that a number
// does not depend on who asked for others before.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
#include <array>
#include <cstdint>

namespace raddle::stdlib::native {

using PhiloxBlock = std::array<std::uint32_t, 4>;

constexpr PhiloxBlock philox(PhiloxBlock counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53, multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9, weyl_1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0], product_1 = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product_0)};
    key[0] += weyl_0;
    key[1] += weyl_1;
  }
  return counter;
}

/// The numbers of one call: block i has the counter (i, stream) and the key `seed`.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  constexpr std::uint64_t next_bits() {
    if (next_word_ == 4) {
      block_ = philox({low(index_), high(index_), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
      ++index_;
      next_word_ = 0;
    }
    const std::uint64_t bits = std::uint64_t{block_[next_word_ + 1]} << 32 | block_[next_word_];
    next_word_ += 2;
    return bits;
  }
  /// In [0, 1): multiples of 2^-53.
  constexpr double next_unit() { return static_cast<double>(next_bits() >> 11) * 0x1p-53; }
  /// In [0, bound), each equally likely. @param bound  not 0
  constexpr std::uint64_t next_below(std::uint64_t bound) {
    // Lemire's method: the high half of bits * bound; the few low halves that would be one too often are refused.
    for (;;) {
      const auto product = static_cast<Wide>(next_bits()) * bound;
      if (static_cast<std::uint64_t>(product) >= (0 - bound) % bound) return static_cast<std::uint64_t>(product >> 64);
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint32_t low(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }
  static constexpr std::uint32_t high(std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); }

  std::uint64_t seed_, stream_, index_ = 0;
  PhiloxBlock block_{};
  unsigned next_word_ = 4;  // 4: the block is used up
};

}  // namespace raddle::stdlib::native
