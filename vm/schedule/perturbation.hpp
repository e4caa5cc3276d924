#pragma once
// Decisions that the language leaves open, taken by chance: for tests.
#include <cstdint>
#include <thread>

namespace raddle::vm {

/// Pseudo-random numbers of one worker, and coins for whoever may do a thing in either of two ways. Without a seed the
/// coins never fall, at the cost of testing a flag.
class Perturbation {
 public:
  /// @param seed  0: off
  Perturbation(std::uint64_t seed, unsigned worker)
      : is_on_(seed != 0), state_((seed + 1) * 0x9E3779B97F4A7C15ull ^ (worker + 1) * 0xD1B54A32D192ED03ull) {
    if (state_ == 0) state_ = 1;  // where xorshift would stay
  }

  bool is_on() const { return is_on_; }
  /// True once in `count` times; never without a seed.
  bool one_in(std::uint64_t count) { return is_on_ && next() % count == 0; }
  /// Lets other workers go first, now and then.
  void pause() {
    if (one_in(16)) yield();
  }
  /// Not without end: where other processes wait for the core, each time takes milliseconds.
  void yield() {
    if (yields_left_ == 0) return;
    --yields_left_;
    std::this_thread::yield();
  }
  /// Works without a seed, too.
  std::uint64_t next() {  // xorshift64
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 8;  // the low bits of neighbours are alike
  }

 private:
  const bool is_on_;
  std::uint64_t state_;
  unsigned yields_left_ = 1000;
};

}  // namespace raddle::vm
