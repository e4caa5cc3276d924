#include "compiler/tool/report/spans.hpp"

#include "compiler/tool/report/trace.hpp"

#include <doctest/doctest.h>

using namespace raddle::report;

TEST_CASE("spans that overlap lie in different lanes, and a lane is used again") {
  std::vector<Span> spans{{.start_s = 2, .duration_s = 2, .first = 3},
                          {.start_s = 0, .duration_s = 3, .first = 1},
                          {.start_s = 1, .duration_s = 1, .first = 2},
                          {.start_s = 3.5, .duration_s = 1, .first = 4}};
  CHECK(place_in_lanes(spans) == 2);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> lanes;
  for (const Span& span : spans) lanes.emplace_back(span.first, span.lane);
  CHECK(lanes == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{1, 0}, {2, 1}, {3, 1}, {4, 0}});
}

TEST_CASE("the load is an average over each part of the time") {
  const std::vector<Span> spans{{.start_s = 0, .duration_s = 2},
                                {.start_s = 1, .duration_s = 0.5, .failed = 1},
                                {.start_s = 3, .duration_s = 1, .count = 7}};
  const std::vector<LoadBin> load = load_of(spans, 0, 4, 4);
  REQUIRE(load.size() == 4);
  CHECK(load[0].ok == doctest::Approx(1));
  CHECK(load[1].ok == doctest::Approx(1));
  CHECK(load[1].failed == doctest::Approx(0.5));
  CHECK(load[2].ok == doctest::Approx(0));
  CHECK(load[3].ok == doctest::Approx(1));
  CHECK(load[3].ended == 7);
}

TEST_CASE("no spans and no time are no load") {
  std::vector<Span> none;
  CHECK(place_in_lanes(none) == 0);
  CHECK(load_of(none, 0, 0, 3).size() == 3);
}

TEST_CASE("of too many spans those of a lane that begin about together become one") {
  std::vector<Span> spans;
  for (int i = 0; i < 1000; ++i) spans.push_back({.start_s = i * 0.5, .duration_s = 0.9, .failed = i == 500 ? 1u : 0u});
  const std::uint32_t lanes = place_in_lanes(spans);
  CHECK(lanes == 2);
  CHECK(join_spans(spans, lanes, 1000).size() == 1000);
  const std::vector<Span> joined = join_spans(spans, lanes, 100);
  CHECK(joined.size() <= 100);
  std::uint64_t count = 0, failed = 0;
  for (const Span& span : joined) {
    count += span.count;
    failed += span.failed;
  }
  CHECK(count == 1000);
  CHECK(failed == 1);
}
