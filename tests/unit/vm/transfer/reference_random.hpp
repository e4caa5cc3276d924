#pragma once
// The random numbers of Python 3, so that random programs are those of the reference planner.
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

/// `random.Random(seed)`: the Mersenne twister, seeded by an array of one word.
class ReferenceRandom {
 public:
  explicit ReferenceRandom(std::uint32_t seed) {
    state_[0] = 19650218;
    for (std::uint32_t i = 1; i < size; ++i) state_[i] = 1812433253 * mixed(i - 1) + i;
    std::uint32_t i = 1;
    for (std::uint32_t k = 0; k < size; ++k) {
      state_[i] = (state_[i] ^ (mixed(i - 1) * 1664525)) + seed;
      i = next_index(i);
    }
    for (std::uint32_t k = 0; k < size - 1; ++k) {
      state_[i] = (state_[i] ^ (mixed(i - 1) * 1566083941)) - i;
      i = next_index(i);
    }
    state_[0] = 0x80000000;
  }
  /// `random()`: 53 bits.
  double fraction() {
    const std::uint32_t high = word() >> 5, low = word() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  /// `randrange(count)`. @pre count is not 0
  std::uint32_t below(std::uint32_t count) {
    const int bits = std::bit_width(count);
    std::uint32_t drawn = word() >> (32 - bits);
    while (drawn >= count) drawn = word() >> (32 - bits);
    return drawn;
  }
  /// `randint(least, most)`
  std::uint32_t between(std::uint32_t least, std::uint32_t most) { return least + below(most - least + 1); }
  /// `sample(of, count)`. @pre at most five, which decides how it is done
  std::vector<std::uint32_t> sample(std::vector<std::uint32_t> of, std::size_t count) {
    std::vector<std::uint32_t> drawn;
    const bool takes_out = of.size() <= 21;
    std::vector<bool> is_drawn(of.size());
    while (drawn.size() < count) {
      const std::size_t left = takes_out ? of.size() - drawn.size() : of.size();
      const std::uint32_t i = below(static_cast<std::uint32_t>(left));
      if (is_drawn[i]) continue;
      drawn.push_back(of[i]);
      if (takes_out)
        of[i] = of[left - 1];
      else
        is_drawn[i] = true;
    }
    return drawn;
  }

 private:
  static constexpr std::uint32_t size = 624, middle = 397;
  std::uint32_t mixed(std::uint32_t i) const { return state_[i] ^ (state_[i] >> 30); }
  std::uint32_t next_index(std::uint32_t i) {
    if (i + 1 < size) return i + 1;
    state_[0] = state_[size - 1];
    return 1;
  }
  void twist() {
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t both = (state_[i] & 0x80000000) | (state_[(i + 1) % size] & 0x7fffffff);
      state_[i] = state_[(i + middle) % size] ^ (both >> 1) ^ ((both & 1) != 0 ? 0x9908b0df : 0);
    }
    position_ = 0;
  }
  std::uint32_t word() {
    if (position_ == size) twist();
    std::uint32_t drawn = state_[position_++];
    drawn ^= drawn >> 11;
    drawn ^= (drawn << 7) & 0x9d2c5680;
    drawn ^= (drawn << 15) & 0xefc60000;
    return drawn ^ (drawn >> 18);
  }

  std::array<std::uint32_t, size> state_{};
  std::uint32_t position_ = size;
};
