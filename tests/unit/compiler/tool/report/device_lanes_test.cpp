#include "compiler/tool/report/device_lanes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "compiler/tool/formats/writer.hpp"

namespace {

std::string trace_of(const std::vector<raddle::vm::DeviceRow>& rows, std::uint64_t most) {
  raddle::sweep::Writer writer(-1);  // so little stays in it
  raddle::report::TraceWriter trace(writer, "run");
  raddle::report::write_device_lanes(trace, rows, 1000, 4, most);
  return writer.text();
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("each device has lanes of its own, as many as it does things at once") {
  std::vector<raddle::vm::DeviceRow> rows;
  for (std::uint32_t device : {0u, 2u})
    for (int i = 0; i < 3; ++i)
      rows.push_back({.device = device,
                      .name = "H200",
                      .started = 1000 + i * 0.5,
                      .duration_s = device == 0 ? 0.6 : 0.4,
                      .computed = 70,
                      .function = "f",
                      .place = i == 0 ? "" : "a.df:3:1"});
  const std::string text = trace_of(rows, 100);
  CHECK(count_of(text, R"("tid":5,"name":"thread_name","args":{"name":"device 0, H200"})") == 1);
  CHECK(count_of(text, R"("tid":6,"name":"thread_name","args":{"name":"device 0, H200, 2"})") == 1);
  CHECK(count_of(text, R"("tid":7,"name":"thread_name","args":{"name":"device 2, H200"})") == 1);
  CHECK(
      count_of(
          text,
          R"("ts":500000.000,"dur":600000.000,"name":"f at a.df:3:1","cat":"device","args":{"at":"a.df:3:1","computed":70})") ==
      1);
  CHECK(count_of(text, R"("cat":"device")") == 6);
}

TEST_CASE("links have lanes of their own, and what is taken of a memory has a curve") {
  std::vector<raddle::vm::DeviceRow> rows;
  for (std::uint32_t lane = 0; lane < 4; ++lane)
    rows.push_back({.device = 1,
                    .name = "H200",
                    .memory_bytes = 1000,
                    .lane = lane,
                    .started = 1001,
                    .duration_s = 0.5,
                    .computed = lane == 0 ? 7u : 0u,
                    .bytes = lane == 0 ? 0u : 300u,
                    .held = lane == 0 ? 400u : 0u,
                    .function = "f",
                    .place = ""});
  const std::string text = trace_of(rows, 100);
  CHECK(count_of(text, R"("tid":5,"name":"thread_name","args":{"name":"device 1, H200"})") == 1);
  CHECK(count_of(text, R"("tid":6,"name":"thread_name","args":{"name":"device 1, H200, from the host"})") == 1);
  CHECK(count_of(text, R"("tid":7,"name":"thread_name","args":{"name":"device 1, H200, to the host"})") == 1);
  CHECK(count_of(text, R"("tid":8,"name":"thread_name","args":{"name":"device 1, H200, from other devices"})") == 1);
  CHECK(count_of(text, R"("cat":"link","args":{"bytes":300})") == 3);
  CHECK(count_of(text, R"("name":"bytes of device 1, H200","args":{"taken":400,"free":600})") == 1);
}

TEST_CASE("of more slices than are wanted neighbours become one") {
  std::vector<raddle::vm::DeviceRow> rows;
  for (int i = 0; i < 100; ++i)
    rows.push_back({.device = 0,
                    .name = "H200",
                    .started = 1000.0 + i,
                    .duration_s = 0.5,
                    .computed = 1,
                    .function = "f",
                    .place = ""});
  const std::string text = trace_of(rows, 10);
  CHECK(count_of(text, R"("cat":"device")") == 10);
  CHECK(count_of(text, R"("name":"10 batches")") == 10);
}
