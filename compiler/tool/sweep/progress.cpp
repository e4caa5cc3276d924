#include "compiler/tool/sweep/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "compiler/tool/formats/quantities.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::sweep {
namespace {

constexpr double rate_memory_s = 5;  // how long a change of the rate takes to be seen, at least

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string rate_text(double rate) {
  if (rate >= 10) return fmt::format("{}/s", with_commas(static_cast<std::uint64_t>(std::llround(rate))));
  return rate >= 0.1 ? fmt::format("{:.1f}/s", rate) : fmt::format("{:.1f}/h", rate * 3600);
}

/// How many points there are; with a filter, what it will leave if it goes on as it did.
std::uint64_t expected_points(const SweepCounts& counts) {
  if (counts.found == counts.looked_at) return counts.candidates;
  const double share = static_cast<double>(counts.found) / static_cast<double>(counts.looked_at);
  return std::max(counts.found, static_cast<std::uint64_t>(share * static_cast<double>(counts.candidates)));
}

std::uint64_t ended_points(const SweepCounts& counts) { return counts.ok + counts.failed + counts.taken; }

/// Of what may be left out, the least important first.
enum class Brevity : std::uint8_t { all, no_running, no_recorded, no_rate };

std::string facts(const SweepCounts& counts, Pace pace, std::string_view recorded, Brevity brevity) {
  const std::uint64_t ended = ended_points(counts), expected = expected_points(counts);
  const bool is_guess = counts.found != counts.looked_at && counts.looked_at != counts.candidates;
  std::string text = fmt::format("{}/{}{}", with_commas(ended), is_guess ? "about " : "", with_commas(expected));
  if (pace.measured > 0 && brevity < Brevity::no_rate) text += "  " + rate_text(pace.measured);
  if (brevity < Brevity::no_running) text += fmt::format("  {} running", with_commas(counts.running));
  if (counts.taken != 0 && brevity < Brevity::no_recorded)
    text += fmt::format("  {} {}", with_commas(counts.taken), recorded);
  if (counts.failed != 0) text += fmt::format("  {} failed", with_commas(counts.failed));
  const double rate = pace.measured > 0 ? pace.measured : pace.expected;
  if (rate > 0 && expected > ended)
    text += fmt::format("  {}{} left", pace.measured > 0 ? "" : "about ",
                        duration_text(std::max(static_cast<double>(expected - ended) / rate - pace.since_s, 0.0)));
  return text;
}

}  // namespace

std::string bar_text(const SweepCounts& counts, Pace pace, std::size_t columns) {
  constexpr std::size_t narrowest = 8;
  const double expected = static_cast<double>(std::max<std::uint64_t>(expected_points(counts), 1));
  const double share = std::min(static_cast<double>(ended_points(counts)) / expected, 1.0);
  const std::string percent = fmt::format("  {:3.0f}%  ", std::floor(share * 100));
  std::size_t width = std::clamp<std::size_t>(columns / 6, narrowest, 30);  // the same all the time: it is not to dance
  const auto fits = [&](const std::string& text) { return text.size() + width + 3 <= columns; };
  std::string text;
  for (const Brevity brevity : {Brevity::all, Brevity::no_running, Brevity::no_recorded, Brevity::no_rate})
    if (text = percent + facts(counts, pace, "earlier", brevity); fits(text)) break;
  if (!fits(text)) width = narrowest;
  if (!fits(text)) return text.substr(2, columns > 1 ? columns - 1 : 1);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  return fmt::format("[{}{}]{}", std::string(full, '#'), std::string(width - full, '.'), text);
}

std::string line_text(const SweepCounts& counts, Pace pace) {
  return facts(counts, pace, "from the record", Brevity::all);
}

Pace Progress::pace(const SweepCounts& counts, Clock::time_point now) const {
  const bool is_known = recorded_s_ > 0 && counts.ok + counts.failed == 0;
  return {.measured = measured_.rate(),
          .expected = is_known ? static_cast<double>(counts.running) / recorded_s_ : 0,
          .since_s = measured_.since_s(seconds(now))};
}

void MeasuredPace::update(std::uint64_t ended, std::uint64_t running, double now_s) {
  const double passed = now_s - at_s_;
  const double at_once = static_cast<double>(std::max<std::uint64_t>(running, 1));
  if (ended == 0 || passed <= 0 || (passed < 0.5 && rate_ > 0)) return;
  if (ended == ended_ && passed < 2 * at_once / rate_) return;
  const double own = static_cast<double>(ended - ended_) / passed;
  const double memory_s = std::max(rate_memory_s, rate_ > 0 ? 4 * at_once / rate_ : 0);
  rate_ += (own - rate_) * std::min(1.0, std::max(passed / memory_s, passed / now_s));
  ended_ = ended;
  at_s_ = now_s;
}

void Progress::show(const SweepCounts& counts) {
  if (style_ == ProgressStyle::none) return;
  const Clock::time_point now = Clock::now();
  measured_.update(counts.ok + counts.failed, counts.running, seconds(now));
  if (style_ == ProgressStyle::bar) {
    if (now - start_ < std::chrono::milliseconds(200)) return;  // what is over at once needs no bar
    vm::draw_on_stderr("\r\x1b[K" + bar_text(counts, pace(counts, now), terminal_columns()));
    is_bar_shown_ = true;
  } else if (now - start_ >= next_line_) {
    next_line_ = (now - start_) + std::min<Clock::duration>(now - start_, std::chrono::seconds(60));
    vm::print_stderr("raddle: {}\n", line_text(counts, pace(counts, now)));
  }
}

void Progress::clear() {
  if (!is_bar_shown_) return;
  vm::draw_on_stderr("\r\x1b[K");
  is_bar_shown_ = false;
}

}  // namespace raddle::sweep
