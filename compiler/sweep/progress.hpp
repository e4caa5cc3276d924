#pragma once
// How far a sweep is, on standard error: a bar that is drawn anew on a terminal, else a line now and then.
#include <chrono>
#include <cstdint>
#include <string>

#include "compiler/sweep/sweep.hpp"

namespace raddle::sweep {

enum class ProgressStyle : std::uint8_t { none, plain, bar };

class Progress {
 public:
  explicit Progress(ProgressStyle style) : style_(style) {}
  void show(const SweepCounts& counts);
  /// Takes the bar away: other text can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void update_rate(const SweepCounts& counts, Clock::time_point now);

  const ProgressStyle style_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_rate_at_ = start_;
  Clock::duration next_line_ = std::chrono::seconds(5);  // since start_; each time twice as long, up to a minute
  std::uint64_t last_ended_ = 0;
  double rate_ = 0;  // points that end in a second, of late
  bool is_bar_shown_ = false;
};

/// "[######..............]  30%  3,000/10,000  830/s  2 running  3 failed  8 s left"
std::string bar_text(const SweepCounts& counts, double rate, std::size_t columns);

}  // namespace raddle::sweep
