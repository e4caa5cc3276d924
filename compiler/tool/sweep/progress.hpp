#pragma once
// How far a sweep is, on standard error: a bar that is drawn anew on a terminal, else a line now and then.
#include <chrono>
#include <cstdint>
#include <string>

#include "compiler/tool/sweep/sweep.hpp"

namespace raddle::sweep {

enum class ProgressStyle : std::uint8_t { none, plain, bar };

/// Points that end in a second.
struct Pace {
  double measured = 0;  ///< of late; 0: none has ended
  double expected = 0;  ///< by what a point took in earlier runs, while none has ended; 0: not known
};

/// "[######..............]   30%  3,000/10,000  830/s  2 running  700 earlier  3 failed  8 s left". What matters least
/// is left out where that is too long, the bar last of all.
std::string bar_text(const SweepCounts& counts, Pace pace, std::size_t columns);
/// The same without a bar, for a line of its own.
std::string line_text(const SweepCounts& counts, Pace pace);

class Progress {
 public:
  /// @param recorded_s  how long a point took in earlier runs; 0: not known
  explicit Progress(ProgressStyle style, double recorded_s = 0) : style_(style), recorded_s_(recorded_s) {}
  void show(const SweepCounts& counts);
  /// Takes the bar away: other text can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void update_rate(const SweepCounts& counts, Clock::time_point now);
  Pace pace(const SweepCounts& counts) const;

  const ProgressStyle style_;
  const double recorded_s_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_rate_at_ = start_;
  Clock::duration next_line_ = std::chrono::seconds(5);  // since start_; each time twice as long, up to a minute
  std::uint64_t last_ended_ = 0;
  double rate_ = 0;  // points that end in a second, of late
  bool is_bar_shown_ = false;
};

}  // namespace raddle::sweep
