#pragma once
#include <cstdint>

namespace raddle::sweep {

/// A random order of 0..size-1 that takes no memory: where each number stands is computed.
///
/// A Feistel network permutes the numbers below the next power of four; whatever falls outside of the range is sent
/// through it again until it falls inside (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). That
/// takes less than four turns on average.
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed);
  /// @pre index < size; each result comes once
  std::uint64_t at(std::uint64_t index) const;

 private:
  std::uint64_t turn(std::uint64_t number) const;
  std::uint64_t size_, seed_;
  unsigned half_bits_ = 1;
};

}  // namespace raddle::sweep
