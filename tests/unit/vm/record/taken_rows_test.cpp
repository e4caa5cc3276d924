#include <doctest/doctest.h>

#include "tests/unit/fresh_folder.hpp"
#include "tests/unit/vm/record/recorded_rows.hpp"
#include "vm/record/recorder.hpp"

using namespace raddle::vm;

TEST_CASE("a run stands on what it has taken") {
  const FreshFolder folder;
  std::vector<std::string> ids;
  std::vector<std::int64_t> digests;
  const auto run_point = [&](const char* text, double started) {
    Recorder recorder(sweep_of(1));
    PointRow row = point(1, PointOutcome::ok);
    row.attempt.inputs = text;
    row.attempt.started = started;
    recorder.add(std::move(row));
    RunRow end = sweep_of(1);
    end.ended = started + 10;
    REQUIRE(recorder.end(end));
    ids.push_back(recorder.id());
    digests.push_back(RunRecord::open()->find_done({7, 1}, "", any)->attempt.row_digest);
  };
  const auto take = [&](double ended, std::vector<std::int64_t> taken) {
    Recorder recorder(sweep_of(1));
    RunRow end = sweep_of(1);
    end.ended = ended;
    end.state = RunState::done;
    REQUIRE(recorder.end(end, std::move(taken)));
    return recorder.id();
  };
  run_point("first", 1000);
  run_point("second", 1020);
  const std::string of_first = take(1040, {digests[0]}), of_unknown = take(1041, {});
  run_point("third", 1050);
  RunRecord record = *RunRecord::open();
  const auto found = [&](const std::string& run, const RunRecord::Fits& fits) {
    return record.find_latest({7, 1}, record.stands_on(run), fits);
  };
  CHECK(found(of_first, any)->attempt.inputs == "first");
  CHECK(found(of_first, any)->is_of_run);
  CHECK(found(of_unknown, any)->attempt.inputs == "second");  // the third had not ended
  CHECK(!found(of_unknown, any)->is_of_run);
  CHECK(found(of_unknown, [](const Attempt& attempt) { return attempt.inputs != "second"; })->attempt.inputs ==
        "first");
  CHECK(found(ids[2], any)->is_of_run);
  CHECK(record.remove(record.find(of_first).front()).empty());
  CHECK(record.stands_on(of_first).taken.empty());
}
