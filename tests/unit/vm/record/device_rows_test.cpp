// What devices have done, in the record.
#include <doctest/doctest.h>

#include "tests/unit/fresh_folder.hpp"
#include "tests/unit/vm/record/recorded_rows.hpp"
#include "vm/record/recorder.hpp"

using namespace raddle::vm;

TEST_CASE("what devices have done is kept with the run, and goes with it") {
  const FreshFolder folder;
  Recorder recorder(sweep_of(1));
  recorder.add(point(1, PointOutcome::ok));
  const DeviceRow late{.device = 0,
                       .name = "H200",
                       .memory_bytes = 1 << 20,
                       .lane = 2,
                       .started = 1003.5,
                       .duration_s = 0.25,
                       .computed = 77,
                       .bytes = 512,
                       .held = 600,
                       .function = "f",
                       .place = "a.df:3:1"};
  DeviceRow early = late;
  early.started = 1001;
  DeviceRow other = early;
  other.device = 1;
  RunRow end = sweep_of(1);
  end.state = RunState::done;
  REQUIRE(recorder.end(end, {}, {other, late, early}));
  RunRecord record = *RunRecord::open();
  const std::vector<DeviceRow> rows = record.device_rows(recorder.id());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].started == 1001);
  CHECK(rows[1].started == 1003.5);
  CHECK(rows[1].duration_s == 0.25);
  CHECK(rows[1].computed == 77);
  CHECK(rows[1].bytes == 512);
  CHECK(rows[1].held == 600);
  CHECK(rows[1].lane == 2);
  CHECK(rows[1].memory_bytes == 1 << 20);
  CHECK(rows[1].name == "H200");
  CHECK(rows[1].function == "f");
  CHECK(rows[1].place == "a.df:3:1");
  CHECK(rows[2].device == 1);
  CHECK(record.device_rows("another").empty());
  Database(record_path).run("UPDATE device SET computed = 78 WHERE device = 1");
  CHECK(record.device_rows(recorder.id()).size() == 2);
  CHECK(record.remove(record.find(recorder.id()).front()).empty());
  CHECK(record.device_rows(recorder.id()).empty());
}
