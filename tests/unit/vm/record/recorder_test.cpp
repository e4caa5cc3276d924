#include "vm/record/recorder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/fresh_folder.hpp"
#include "tests/unit/vm/record/recorded_rows.hpp"
#include "vm/record/process_identity.hpp"
#include "vm/record/row_digest.hpp"
#include "vm/record/spilled_rows.hpp"

using namespace raddle::vm;

TEST_CASE("a block is read back") {
  const FreshFolder folder;
  RunRow run = sweep_of(3);
  run.work = 77;
  Recorder recorder(run);
  BlockRow block;
  block.first = 2;
  block.last = 9;
  block.numbers = {9, 2};
  block.keys = {~std::uint64_t{0}, 5};
  block.columns = {{-1, 1}, {8, 9}};
  block.duration_s = 2;
  block.worker = 5;
  recorder.add(block);
  run.state = RunState::done;
  REQUIRE(recorder.end(run));

  RunRecord record = *RunRecord::open();
  CHECK(record.has_points(77));
  CHECK(!record.has_points(78));
  CHECK(record.blocks(78, "", "").empty());
  const std::vector<BlockHead> heads = record.blocks(77, recorder.id(), "");
  REQUIRE(heads.size() == 1);
  CHECK((heads[0].first == 2 && heads[0].last == 9 && heads[0].is_of_first_run));
  CHECK(record.block_keys(heads[0].row) == block.keys);
  const BlockRow found = record.block(heads[0].row);
  CHECK(found.numbers == block.numbers);
  CHECK(found.columns == block.columns);
  CHECK(found.duration_s == 2);
  CHECK(found.worker == 5);
  CHECK(record.remove(record.runs().front()).empty());
  CHECK(record.blocks(77, "", "").empty());
}

TEST_CASE("what is recorded is read back") {
  const FreshFolder folder;
  CHECK(!RunRecord::open());
  Recorder recorder(sweep_of(2));
  recorder.add(point(1, PointOutcome::ok));
  recorder.add(point(2, PointOutcome::signal));
  RunRow end = sweep_of(2);
  end.ended = 1001;
  end.state = RunState::failed;
  end.ok = end.failed = 1;
  REQUIRE(recorder.end(end));

  RunRecord record = *RunRecord::open();
  const std::vector<RunRow> runs = record.runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].id == recorder.id());
  CHECK(runs[0].words() == std::vector<std::string>{"-p", "a=1"});
  CHECK(runs[0].state == RunState::failed);
  CHECK(runs[0].ended == 1001);
  std::vector<std::string> ends;
  record.for_each_point(recorder.id(), [&](const PointRow& row) {
    ends.push_back(row.attempt.stdout_end);
    return true;
  });
  CHECK(ends == std::vector<std::string>{std::string("a\0b", 3), std::string("a\0b", 3)});
  const std::vector<PointRow> failed = record.failed_points(recorder.id());
  REQUIRE(failed.size() == 1);
  CHECK(failed.front().number == 2);
  CHECK(record.find_done({7, 1}, "", any)->attempt.results == R"({"E":1})");
  CHECK(!record.find_done({7, 2}, recorder.id(), any));
  CHECK(record.find_latest({7, 2}, {}, any)->attempt.outcome == PointOutcome::signal);
  CHECK(record.find(recorder.id().substr(0, 4)).size() == 1);
  const auto done = record.find_done({7, 1}, "", any);
  CHECK((done->attempt.worker == 3 && done->attempt.inputs == R"({"x.csv":"5-1"})"));
  CHECK(record.find("no such").empty());
  CHECK(record.failed_points(recorder.id()).front().key == PointKey{7, 2});
  CHECK(record.any_point(recorder.id())->key.high == 7);
  CHECK_THROWS(record.read_together([] { throw RecordError("in the middle"); }));
  record.read_together([&] { CHECK(record.runs().size() == 1); });  // the first one was rolled back
  CHECK(record.remove(runs[0]).empty());
  CHECK(record.runs().empty());
  CHECK(!record.has_points(0));
}

TEST_CASE("of several results the latest that fits is found") {
  const FreshFolder folder;
  std::vector<std::string> ids;
  for (const char* text : {"first", "second", "third"}) {
    Recorder recorder(sweep_of(1));
    PointRow row = point(1, PointOutcome::ok);
    row.attempt.inputs = text;
    recorder.add(std::move(row));
    REQUIRE(recorder.end(sweep_of(1)));
    ids.push_back(recorder.id());
  }
  RunRecord record = *RunRecord::open();
  const auto fits = [](std::string wanted) {
    return [wanted = std::move(wanted)](const Attempt& attempt) { return attempt.inputs <= wanted; };
  };
  CHECK(record.find_done({7, 1}, "", any)->attempt.inputs == "third");
  CHECK(record.find_done({7, 1}, "", fits("second"))->attempt.inputs == "second");
  CHECK(!record.find_done({7, 1}, ids[1], fits("first")));
  CHECK(!record.find_done({7, 1}, "", fits("")));
  CHECK(record.find_latest({7, 1}, {}, fits("first"))->attempt.inputs == "first");
  CHECK(record.find_latest({7, 1}, {}, fits(""))->attempt.inputs == "third");
  CHECK(record.find_latest({7, 1}, {.run = ids[1]}, fits("first"))->attempt.inputs == "second");
}

TEST_CASE("tasks of points are read back, and are no points") {
  const FreshFolder folder;
  Recorder recorder(sweep_of(1));
  recorder.add(task(1));
  recorder.add(task(2));
  recorder.add(point(5, PointOutcome::ok));
  RunRow end = sweep_of(1);
  end.state = RunState::done;
  end.ok = 1;
  REQUIRE(recorder.end(end));
  RunRecord record = *RunRecord::open();
  const auto numbers = [&](std::optional<std::uint64_t> of_point) {
    std::vector<std::uint64_t> found;
    record.for_each_task(recorder.id(), of_point, [&](const PointRow& row) {
      CHECK((row.point == 5 && row.point_attempt == 2 && row.attempt.worker == 3));
      found.push_back(row.number);
      return true;
    });
    return found;
  };
  CHECK(numbers(5) == std::vector<std::uint64_t>{1, 2});
  CHECK(numbers(std::nullopt) == std::vector<std::uint64_t>{1, 2});
  CHECK(numbers(1).empty());
  CHECK(record.has_tasks(recorder.id()));
  CHECK(record.count_tasks(recorder.id()).all == 2);
  CHECK(record.point_heads(recorder.id()).size() == 1);
  CHECK(record.runs().front().ok == 1);
  CHECK(record.remove(record.runs().front()).empty());
  CHECK(numbers(5).empty());
}

TEST_CASE("tasks are read point by point, those of attempts without a row also by themselves") {
  const FreshFolder folder;
  Recorder recorder(sweep_of(9));
  for (const std::uint64_t of_point : {7, 5, 7}) {
    PointRow row = task(of_point);
    row.point = of_point;
    row.attempt.outcome = PointOutcome::failed;
    row.is_last = of_point == 5;
    recorder.add(row);
  }
  PointRow ended = point(7, PointOutcome::ok);
  ended.attempt_number = 2;
  recorder.add(ended);
  recorder.add(point(5, PointOutcome::ok));  // the first attempt, and the tasks are of the second
  REQUIRE(recorder.end(sweep_of(9)));
  RunRecord record = *RunRecord::open();
  std::vector<std::uint64_t> points, unended;
  record.for_each_task(recorder.id(), std::nullopt,
                       [&](const PointRow& row) { return points.push_back(row.point), true; });
  record.for_each_unended_task(recorder.id(), std::nullopt,
                               [&](const PointRow& row) { return unended.push_back(row.point), true; });
  record.for_each_unended_task(recorder.id(), 7,
                               [&](const PointRow& row) { return unended.push_back(row.point), true; });
  CHECK(points == std::vector<std::uint64_t>{5, 7, 7});
  CHECK(unended == std::vector<std::uint64_t>{5});
  CHECK(record.count_tasks(recorder.id()).all == 1);
  CHECK(record.count_tasks(recorder.id()).failed == 1);
  CHECK(!record.has_tasks("another"));
}

TEST_CASE("records of the formats before are read, and go on") {
  const FreshFolder folder;
  {
    Recorder recorder(sweep_of(1));
    recorder.add(point(1, PointOutcome::ok));
    REQUIRE(recorder.end(sweep_of(1)));
  }
  const std::string no_devices = "DROP TABLE device; ";
  const std::string old_name =
      no_devices +
      "ALTER TABLE block RENAME TO batch; DROP INDEX block_by_run; CREATE INDEX batch_by_run ON batch (run); ";
  std::string backwards = "DROP TABLE taken; ";
  for (const char* table : {"run", "point", "task", "block"})
    backwards += fmt::format("ALTER TABLE {} DROP COLUMN digest; ", table);
  backwards += "ALTER TABLE block DROP COLUMN content_digest; " + old_name + "PRAGMA user_version = 4; ";
  bool has_worker = true;
  SUBCASE("8") {
    backwards =
        "ALTER TABLE device DROP COLUMN lane; ALTER TABLE device DROP COLUMN bytes; ALTER TABLE device DROP COLUMN "
        "held; ALTER TABLE device DROP COLUMN memory; PRAGMA user_version = 8;";
  }
  SUBCASE("7") { backwards = no_devices + "PRAGMA user_version = 7;"; }
  SUBCASE("6") { backwards = old_name + "PRAGMA user_version = 6;"; }
  SUBCASE("5") { backwards = "DROP TABLE taken; " + old_name + "PRAGMA user_version = 5;"; }
  SUBCASE("4") {}
  SUBCASE("3") { backwards += "DROP TABLE task; PRAGMA user_version = 3;"; }
  SUBCASE("2") {
    backwards +=
        "DROP TABLE task; "
        "ALTER TABLE point DROP COLUMN worker; ALTER TABLE point DROP COLUMN "
        "inputs; ALTER TABLE batch DROP COLUMN worker; PRAGMA user_version = 2;";
    has_worker = false;
  }
  Database(record_path).run(backwards.c_str());
  CHECK(RunRecord::open()->find_done({7, 1}, "", any)->attempt.worker == (has_worker ? 3 : 0));
  Recorder recorder(sweep_of(1));
  recorder.add(point(2, PointOutcome::ok));
  recorder.add(task(1));
  REQUIRE(recorder.end(sweep_of(1)));
  CHECK(RunRecord::open()->find_done({7, 2}, "", any)->attempt.worker == 3);
  unsigned tasks = 0;
  RunRecord::open()->for_each_task(recorder.id(), 5, [&](const PointRow&) { return ++tasks != 0; });
  CHECK(tasks == 1);
}

TEST_CASE("a damaged row is not there") {
  const FreshFolder folder;
  RunRow run = sweep_of(3);
  run.work = 77;
  Recorder recorder(run);
  recorder.add(point(1, PointOutcome::ok));
  recorder.add(point(2, PointOutcome::ok));
  recorder.add(task(1));
  recorder.add(BlockRow{.first = 3, .last = 3, .numbers = {}, .keys = {5}, .columns = {{-1}}});
  REQUIRE(recorder.end(run));
  const auto points_left = [&] {
    std::size_t left = 0;
    RunRecord::open()->for_each_point(recorder.id(), [&](const PointRow&) { return ++left != 0; });
    return left;
  };
  CHECK(points_left() == 2);
  CHECK(RunRecord::open()->find_done({7, 1}, recorder.id(), any));
  CHECK(RunRecord::open()->failed_points(recorder.id()).empty());
  CHECK(RunRecord::open()->done_keys(77, "").size() == 2);
  CHECK(!has_met_damage());
  const auto damage = [](const std::string& sql) { Database(record_path).run(sql.c_str()); };

  for (const std::string column : {"run", "number", "key", "is_last", "outcome", "exit_code", "results", "worker"}) {
    damage(fmt::format("CREATE TABLE kept AS SELECT {} AS value FROM point WHERE number = 1", column));
    damage(fmt::format("UPDATE point SET {0} = {0} || 'x' WHERE number = 1", column));
    CHECK_MESSAGE(points_left() == 1, column);
    CHECK(!RunRecord::open()->find_done({7, 1}, "", any));
    damage(fmt::format("UPDATE point SET {} = (SELECT value FROM kept) WHERE rowid = 1; DROP TABLE kept", column));
    CHECK_MESSAGE(points_left() == 2, column);
  }
  CHECK(has_met_damage());

  damage("UPDATE task SET point_attempt = 7");
  CHECK(!RunRecord::open()->has_tasks(recorder.id()));
  const BlockHead head = RunRecord::open()->blocks_of(recorder.id()).at(0);
  damage("UPDATE block SET columns = zeroblob(8)");
  CHECK(RunRecord::open()->block_keys(head.row).empty());
  CHECK(RunRecord::open()->block(head.row).keys.empty());
  damage("UPDATE block SET count = 100");
  CHECK(RunRecord::open()->blocks_of(recorder.id()).empty());
  damage("UPDATE run SET collect = 'another'");
  CHECK(RunRecord::open()->runs().empty());
  CHECK(points_left() == 0);
}

TEST_CASE("what a run that goes on counts on is not removed") {
  const FreshFolder folder;
  std::vector<std::string> ids;
  const auto run_of = [](std::uint64_t work, std::string resumes) {
    RunRow run = sweep_of(1);
    run.work = work;
    run.resumes = std::move(resumes);
    return run;
  };
  for (const std::uint64_t work : {77, 78, 79}) {
    Recorder recorder(run_of(work, ""));
    ids.push_back(recorder.id());
    RunRow end = run_of(work, "");
    end.state = RunState::done;
    REQUIRE(recorder.end(end));
  }
  RunRecord record = *RunRecord::open();
  const auto remove = [&](const std::string& id) { return record.remove(record.find(id).at(0)); };
  {
    const Recorder live(run_of(78, ids[0]));  // the script has changed since
    CHECK(remove(ids[0]) == live.id());
    CHECK(remove(ids[1]) == live.id());
    CHECK(remove(ids[2]).empty());
    CHECK(remove(live.id()) == live.id());
  }
  CHECK(record.runs().size() == 3);
}

TEST_CASE("what has ended is in the record at once, not only when more has been gathered") {
  const FreshFolder folder;
  Recorder recorder(sweep_of(9));
  RunRecord record = *RunRecord::open();
  for (std::uint64_t number = 1; number < 10; ++number) {
    recorder.add(point(number, PointOutcome::ok));
    const auto begin = std::chrono::steady_clock::now();
    while (!record.find_done({7, number}, "", any)) {
      REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::minutes(2));  // else it waits for more, for ever
      std::this_thread::yield();
    }
  }
  CHECK(record.runs().at(0).ok == 9);
}

TEST_CASE("commits cost half a hundredth of a core, but what has ended is never gathered for long") {
  using namespace std::chrono_literals;
  CHECK(pause_after_commit(0ns) == 0ns);
  CHECK(pause_after_commit(100us) == 20ms);
  CHECK(pause_after_commit(250us) == 50ms);
  CHECK(pause_after_commit(3s) == 50ms);
}

TEST_CASE("a run without an end is running while its process lives, else it was killed") {
  const FreshFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    auto* recorder = new Recorder(sweep_of(5));  // not destroyed: the process is killed
    recorder->add(point(1, PointOutcome::ok));
    while (!RunRecord::open() || !RunRecord::open()->has_points(0)) usleep(1000);
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::vector<RunRow> runs = RunRecord::open()->runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].state == RunState::killed);
  CHECK(runs[0].ok == 1);

  Recorder own(sweep_of(1));
  const RunRow running = RunRecord::open()->find(own.id()).at(0);
  CHECK(running.state == RunState::running);
  CHECK(RunRecord::open()->remove(running) == own.id());
}

TEST_CASE("ids of runs that begin together differ") {
  const FreshFolder folder;
  const Recorder one(sweep_of(1)), two(sweep_of(1)), three(sweep_of(1));
  CHECK(one.id() != two.id());
  CHECK(two.id() != three.id());
}

TEST_CASE("a process is known by more than its number") {
  ProcessIdentity self = own_identity();
  CHECK(is_alive(self));
  ++self.start_ticks;
  CHECK(!is_alive(self));
  self = own_identity();
  self.boot = "another";
  CHECK(!is_alive(self));
}

TEST_CASE("what can not be recorded is told") {
  const FreshFolder folder;
  { std::ofstream(".raddle") << "a file in the folder's place"; }
  CHECK_THROWS_AS(Recorder(sweep_of(1)), RecordError);
}
