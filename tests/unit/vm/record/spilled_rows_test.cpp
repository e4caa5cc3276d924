#include "vm/record/spilled_rows.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "tests/unit/fresh_folder.hpp"
#include "tests/unit/vm/record/recorded_rows.hpp"
#include "vm/record/recorder.hpp"

using namespace raddle::vm;

TEST_CASE("while others hold the record locked, what has ended is kept beside it") {
  const FreshFolder folder;
  Recorder recorder(sweep_of(3));
  const std::string spilled = fmt::format(".raddle/spilled-{}.db", recorder.id());
  {
    Database other(record_path);
    other.run("BEGIN EXCLUSIVE");
    recorder.add(point(1, PointOutcome::ok));
    recorder.add(task(1));
    recorder.add(BlockRow{.first = 3, .last = 3, .numbers = {}, .keys = {5}, .columns = {{-1}}});
    while (!std::filesystem::exists(spilled)) std::this_thread::yield();
    recorder.add(point(2, PointOutcome::signal));
  }
  REQUIRE(recorder.end(sweep_of(3)));
  CHECK(!std::filesystem::exists(spilled));
  RunRecord record = *RunRecord::open();
  CHECK(record.point_heads(recorder.id()).size() == 2);
  CHECK(record.count_tasks(recorder.id()).all == 1);
  CHECK(record.block_keys(record.blocks_of(recorder.id()).at(0).row) == std::vector<std::uint64_t>{5});
}

TEST_CASE("what a killed run has left beside the record is taken in once, by whoever opens it next") {
  const FreshFolder folder;
  RunRow ended = sweep_of(1);
  ended.state = RunState::done;
  std::string id;
  {
    Recorder recorder(sweep_of(1));
    REQUIRE(recorder.end(ended));
    id = recorder.id();
  }
  for (int time = 0; time < 2; ++time) {  // the second time as if somebody was killed before the file was removed
    PointRow first = task(1);
    first.is_last = false;
    PointRow again = first, of_next_attempt = task(1);
    again.attempt_number = 2;
    of_next_attempt.point_attempt = 3;
    SpilledRows(id, 1).write({point(1, PointOutcome::ok), first, again, of_next_attempt},
                             {BlockRow{.first = 3, .last = 3, .numbers = {}, .keys = {5}, .columns = {}}});
    RunRecord record = *RunRecord::open();
    CHECK(!std::filesystem::exists(fmt::format(".raddle/spilled-{}.db", id)));
    CHECK(record.point_heads(id).size() == 1);
    CHECK(record.count_tasks(id).all == 1);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> attempts;
    record.for_each_task(id, std::nullopt, [&](const PointRow& row) {
      attempts.emplace_back(row.point_attempt, row.attempt_number);
      return true;
    });
    CHECK(attempts == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{2, 1}, {2, 2}, {3, 1}});
    CHECK(record.blocks_of(id).size() == 1);
  }
  SpilledRows("of-no-run", 1).write({point(1, PointOutcome::ok)}, {});
  CHECK(RunRecord::open()->point_heads(id).size() == 1);
  CHECK(!std::filesystem::exists(".raddle/spilled-of-no-run.db"));
}
