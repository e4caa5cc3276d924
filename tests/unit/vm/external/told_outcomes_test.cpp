#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "tests/unit/vm/external/external_programs.hpp"
#include "vm/external/processes.hpp"

using namespace raddle::vm;

TEST_CASE("others start and end while somebody is told") {
  Processes processes({.programs = 2});
  std::promise<void> is_told, other_has_ended;
  std::promise<int> first;
  processes.spawn(shell("true"), [&](const ProcessResult&) {
    is_told.set_value();
    other_has_ended.get_future().wait();
    first.set_value(1);
  });
  is_told.get_future().wait();
  CHECK(run(processes, shell("exit 3")).exit_code == 3);
  other_has_ended.set_value();
  CHECK(first.get_future().get() == 1);
}

TEST_CASE("a program that ends in time has done so though somebody is told of another one for longer") {
  Folder folder;
  std::promise<void> first_is_told;
  Processes processes({.programs = 1}), others({.programs = 1});
  processes.spawn(shell("until test -e " + (folder / "asked") + "; do sleep 0.01; done"), [&](const ProcessResult&) {
    becomes([&] { return std::filesystem::exists(folder / "ran"); });  // it was started before this is told
    ProcessRequest longer = shell("sleep 100");
    longer.timeout_s = 0.6;
    run(others, longer);
    first_is_told.set_value();
  });
  ProcessRequest second = shell("touch " + (folder / "ran"));
  second.timeout_s = 0.5;
  auto ended = begin(processes, second);
  std::ofstream(folder / "asked") << "yes";
  const ProcessResult result = ended.get();
  CHECK(result.exit_code == 0);
  CHECK_FALSE(result.timed_out);
  first_is_told.get_future().wait();  // it may be told on another thread than the second one, and uses `others`
}

// The second program ends when it has been told of the first, which is short while others wait.
static void check_told_meanwhile(const std::string& first) {
  const Folder folder;
  const std::string heard = folder / "heard";
  std::promise<void> told;
  Processes processes({.programs = 1});
  processes.spawn(shell(first), [&](ProcessResult) {
    std::ofstream(heard).put('\n');
    told.set_value();
  });
  const auto second = begin(processes, shell("until [ -e " + heard + " ]; do sleep 0.01; done"));
  const auto third = begin(processes, shell("true"));
  CHECK(told.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  std::ofstream(heard).put('\n');
  second.wait();
  third.wait();
}

TEST_CASE("the end of a short program is told though the next one takes long") { check_told_meanwhile("true"); }

TEST_CASE("a failure is told though the next program takes long") { check_told_meanwhile("exit 3"); }

TEST_CASE("a time limit counts while somebody is told of a program before") {
  const Folder folder;
  std::promise<bool> in_time;
  Processes processes({.programs = 1});
  // the thread that tells may be the one that is to hear of the second program's end: it can be told only later
  processes.spawn(shell("true"), [&](ProcessResult) {
    in_time.set_value(becomes([&] { return std::filesystem::exists(folder / "ended"); }));
  });
  ProcessRequest second = shell("trap 'touch " + (folder / "ended") + "; exit 1' TERM; sleep 100 & wait");
  second.timeout_s = 0.3;
  CHECK(run(processes, second).timed_out);
  CHECK(in_time.get_future().get());
}

TEST_CASE("each of many short programs is told once") {
  constexpr int count = 200;
  std::vector<int> told;
  std::mutex mutex;
  std::promise<void> all;
  Processes processes({.programs = 2});
  for (int i = 0; i < count; ++i)
    processes.spawn(shell("exit " + std::to_string(i % 50 == 0 ? 1 : 0)), [&, i](ProcessResult result) {
      const std::lock_guard lock(mutex);
      CHECK(result.exit_code == (i % 50 == 0 ? 1 : 0));
      told.push_back(i);
      if (told.size() == count) all.set_value();
    });
  REQUIRE(all.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready);
  std::ranges::sort(told);
  for (int i = 0; i < count; ++i) CHECK(told[static_cast<std::size_t>(i)] == i);
}
