#include "compiler/tool/space/permutation.hpp"

#include <bit>

namespace raddle::sweep {
namespace {

constexpr int rounds = 6;

// The last steps of splitmix64.
std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB;
  return bits ^ bits >> 31;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t seed) : size_(size), seed_(mixed(seed + 1)) {
  if (size > 1) half_bits_ = static_cast<unsigned>(std::bit_width(size - 1) + 1) / 2;
}

std::uint64_t Permutation::turn(std::uint64_t number) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = number >> half_bits_, right = number & mask;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t next = left ^ (mixed(seed_ + right * rounds + static_cast<std::uint64_t>(round)) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t Permutation::at(std::uint64_t index) const {
  do index = turn(index);
  while (index >= size_);
  return index;
}

}  // namespace raddle::sweep
