#pragma once
#include <cstdint>

#include "vm/math/random.hpp"

namespace raddle::stdlib::native {

/// The numbers of one call: Note [streams of random numbers] in vm/math/random.hpp.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}
  std::uint64_t next_bits() { return vm::math::random_bits<double>(seed_, stream_, index_++); }
  /// In [0, 1): multiples of 2^-53.
  double next_unit() { return vm::math::unit_of_bits<double>(next_bits()); }
  /// In [0, bound), each equally likely. @param bound  not 0
  std::uint64_t next_below(std::uint64_t bound) {
    // Lemire's method: the high half of bits * bound; the few low halves that would be one too often are refused.
    for (;;) {
      const std::uint64_t bits = next_bits();
      if (bits * bound >= (0 - bound) % bound) return vm::math::upper_product(bits, bound);
    }
  }

 private:
  std::uint64_t seed_, stream_, index_ = 0;
};

}  // namespace raddle::stdlib::native
