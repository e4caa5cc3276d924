#include "compiler/tool/sweep/progress.hpp"

#include <doctest/doctest.h>

using namespace raddle::sweep;

namespace {

SweepCounts counts_of(std::uint64_t points, std::uint64_t ok) {
  return {.candidates = points, .looked_at = points, .found = points, .taken = 0, .running = 2, .ok = ok};
}

}  // namespace

TEST_CASE("a bar with all that there is to say") {
  SweepCounts counts = counts_of(10'000, 2'997);
  counts.failed = 3;
  CHECK(bar_text(counts, {.measured = 830}, 120) ==
        "[######..............]   30%  3,000/10,000  830/s  2 running  3 failed  8 s left");
  counts.taken = 700;
  CHECK(line_text(counts, {.measured = 830}) ==
        "3,700/10,000  830/s  2 running  700 from the record  3 failed  8 s left");
}

TEST_CASE("at 80 columns the text gets shorter, the bar stays") {
  SweepCounts counts = counts_of(10'000, 2'000);
  counts.taken = 3'000;
  CHECK(bar_text(counts, {.measured = 830}, 80) ==
        "[######.......]   50%  5,000/10,000  830/s  2 running  3,000 earlier  6 s left");
  counts.failed = 3;
  CHECK(bar_text(counts, {.measured = 830}, 80) ==
        "[######.......]   50%  5,003/10,000  830/s  3,000 earlier  3 failed  6 s left");
  counts = counts_of(1'000'000, 200'000);
  counts.taken = 300'000;
  counts.failed = 12;
  CHECK(bar_text(counts, {.measured = 1830}, 80) ==
        "[######.......]   50%  500,012/1,000,000  1,830/s  12 failed  4 min 33 s left");
  CHECK(bar_text(counts, {.measured = 1830}, 64) == "[####....]   50%  500,012/1,000,000  12 failed  4 min 33 s left");
  for (std::size_t columns = 1; columns < 200; ++columns)
    CHECK(bar_text(counts, {.measured = 1830}, columns).size() <= std::max<std::size_t>(columns - 1, 1));
  CHECK(bar_text(counts, {.measured = 1830}, 40) == " 50%  500,012/1,000,000  12 failed  4 m");
}

TEST_CASE("before the first point has ended, earlier runs tell how long it may take") {
  SweepCounts counts = counts_of(100, 0);
  CHECK(line_text(counts, {}) == "0/100  2 running");
  counts.taken = 40;
  CHECK(line_text(counts, {.expected = 0.5}) == "40/100  2 running  40 from the record  about 2 min 0 s left");
}

TEST_CASE("while long points run, what is left gets less") {
  MeasuredPace pace;
  const auto left = [&](std::uint64_t ended, double now_s) {
    return static_cast<double>(20 - ended) / pace.rate() - pace.since_s(now_s);
  };
  double before = 1e9;
  for (int second = 1; second <= 300; ++second) {  // 20 points of 30 s, two at a time
    const std::uint64_t ended = static_cast<std::uint64_t>(second / 30) * 2;
    pace.update(ended, 2, second);
    if (ended == 0) continue;
    CHECK(left(ended, second) == doctest::Approx(300 - second));
    CHECK(left(ended, second) < before);
    before = left(ended, second);
  }
  for (int second = 301; second <= 600; ++second) pace.update(20, 2, second);
  CHECK(pace.rate() < 2 / 60.0);  // nothing ends any more
}

TEST_CASE("what a filter leaves is a guess while not all points have been looked at") {
  SweepCounts counts = counts_of(1000, 10);
  counts.looked_at = 100;
  counts.found = 50;
  CHECK(line_text(counts, {}) == "10/about 500  2 running");
}
