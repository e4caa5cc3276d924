#include "vm/device/device_log.hpp"

#include <doctest/doctest.h>

using namespace raddle::vm;

TEST_CASE("calls of one bundle are one span, and devices stand one after the other") {
  DeviceLog log;
  const Place call{.file = 0, .begin = 3, .end = 7}, loop{.file = 0, .begin = 20, .end = 30};
  log.add({.device = 1, .start_ns = 500, .duration_ns = 40, .function = "f", .place = loop, .computed = 1000});
  for (int i = 0; i < 3; ++i)
    log.add({.device = 0, .start_ns = 700, .duration_ns = 9, .function = "main", .place = call, .computed = 1});
  log.add({.device = 0, .start_ns = 700, .duration_ns = 9, .function = "f", .place = loop, .computed = 5});
  log.add({.device = 0, .start_ns = 600, .duration_ns = 30, .function = "f", .place = loop, .computed = 7});
  const std::vector<DeviceSpan> spans = log.spans();
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].computed == 7);
  CHECK(spans[1].computed == 3);
  CHECK(spans[1].function == "main");
  CHECK(spans[2].computed == 5);
  CHECK(spans[3].device == 1);
}

TEST_CASE("of too many spans those that begin about together are one, and nothing is lost") {
  constexpr std::size_t most = 100;
  DeviceLog log(most);
  constexpr std::int64_t count = 30'000;
  for (std::int64_t i = 0; i < count; ++i)
    log.add({.device = static_cast<unsigned>(i % 2),
             .start_ns = i * 1000,
             .duration_ns = i % 7 == 0 ? 900 : 100,
             .function = i % 7 == 0 ? "slow" : "quick",
             .place = {},
             .computed = 3});
  const std::vector<DeviceSpan> spans = log.spans();
  CHECK(spans.size() <= most);
  CHECK(spans.size() > most / 8);
  std::uint64_t computed = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    computed += spans[i].computed;
    CHECK(spans[i].function == "slow");
    if (i > 0 && spans[i].device == spans[i - 1].device)
      CHECK(spans[i].start_ns >= spans[i - 1].start_ns + spans[i - 1].duration_ns);
  }
  CHECK(computed == 3 * count);
}
