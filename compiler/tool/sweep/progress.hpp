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
  double since_s = 0;   ///< when `measured` was measured: what was left then is less by that now
};

/// How many points end in a second, of late. Points that take long end seldom, and many at once: while none ends, that
/// is no slower pace before twice the time has passed in which as many should have ended as run at once.
class MeasuredPace {
 public:
  /// @param ended  so far; @param now_s  since the start
  void update(std::uint64_t ended, std::uint64_t running, double now_s);
  double rate() const { return rate_; }
  double since_s(double now_s) const { return now_s - at_s_; }

 private:
  double rate_ = 0;  ///< 0: none has ended
  double at_s_ = 0;  ///< when that was measured
  std::uint64_t ended_ = 0;
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
  double seconds(Clock::time_point now) const { return std::chrono::duration<double>(now - start_).count(); }
  Pace pace(const SweepCounts& counts, Clock::time_point now) const;

  const ProgressStyle style_;
  const double recorded_s_;
  const Clock::time_point start_ = Clock::now();
  Clock::duration next_line_ = std::chrono::seconds(5);  // since start_; each time twice as long, up to a minute
  MeasuredPace measured_;
  bool is_bar_shown_ = false;
};

}  // namespace raddle::sweep
