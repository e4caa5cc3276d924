#include "vm/external/processes.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/unit/vm/external/external_programs.hpp"

using namespace raddle::vm;

namespace {

// "Cpus_allowed_list: 0-1"
std::string core_list(const std::string& status_file) {
  std::ifstream in(status_file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("Cpus_allowed_list")) return line;
  return "";
}

}  // namespace

TEST_CASE("programs may use the cores that the run may, wherever they begin") {
  const std::string own = core_list("/proc/self/status");
  Processes processes({.programs = 3});
  std::vector<std::future<ProcessResult>> ends;
  const Folder folder;
  for (int i = 0; i < 12; ++i)
    ends.push_back(begin(processes, shell("grep Cpus_allowed_list /proc/self/status > " + folder.path.string() + "/" +
                                          std::to_string(i))));
  for (std::future<ProcessResult>& end : ends) CHECK(end.get().exit_code == 0);
  for (int i = 0; i < 12; ++i) CHECK(core_list(folder / std::to_string(i).c_str()) == own);
}

TEST_CASE("exit codes and signals are told") {
  Processes processes({.programs = 2});
  CHECK(run(processes, shell("true")).exit_code == 0);
  CHECK(run(processes, shell("exit 7")).exit_code == 7);
  const ProcessResult killed = run(processes, shell("kill -9 $$"));
  CHECK(killed.signal == SIGKILL);
  CHECK(killed.start_error == "");
  CHECK_FALSE(killed.timed_out);
}

TEST_CASE("a program that does not exist") {
  Processes processes({.programs = 1});
  ProcessRequest request;
  request.words = {"no-such-program-anywhere"};
  CHECK(run(processes, request).start_error == "no such file or directory");
  request.words = {"/etc/passwd"};
  CHECK(run(processes, request).start_error == "permission denied");
  request.words = {};
  CHECK(run(processes, request).start_error == "no such file or directory");
}

TEST_CASE("where nobody waits any more, programs are killed, and those that wait are forgotten") {
  Folder folder;
  const std::string told_id = folder / "id";
  Processes processes({.programs = 1});
  auto ended = begin(processes, shell("trap '' TERM; echo $$ > " + told_id + "; sleep 600"));
  std::atomic<bool> told = false;
  processes.spawn(shell("true"), [&told](const ProcessResult&) { told = true; });
  const pid_t pid = pid_from(told_id);
  processes.kill_all();
  const ProcessResult result = ended.get();
  CHECK(result.signal == SIGKILL);
  CHECK(result.was_asked_to_end);
  CHECK_FALSE(is_alive(pid));
  processes.end_all();                                  // until then requests are forgotten
  CHECK(run(processes, shell("true")).exit_code == 0);  // the queue has gone on since
  CHECK(!told);
}

TEST_CASE("words reach the program as they are") {
  Folder folder;
  Processes processes({.programs = 1});
  ProcessRequest request;
  request.words = {"printf", "<%s>", "$HOME", "", "a  b", "*;"};
  request.stdout_path = folder / "out";
  CHECK(run(processes, request).exit_code == 0);
  CHECK(content(folder / "out") == "<$HOME><><a  b><*;>");
}

TEST_CASE("redirects: folders are made, files truncated, stdin read") {
  Folder folder;
  Processes processes({.programs = 1});
  ProcessRequest request = shell("cat; echo oops >&2");
  request.stdout_path = folder / "a/b/out.txt";
  request.stderr_path = folder / "c/err.txt";
  std::ofstream(folder / "in.txt") << "hello\n";
  request.stdin_path = folder / "in.txt";
  CHECK(run(processes, request).exit_code == 0);
  CHECK(content(folder / "a/b/out.txt") == "hello\n");
  CHECK(content(folder / "c/err.txt") == "oops\n");
  std::ofstream(folder / "in.txt") << "x";
  CHECK(run(processes, request).exit_code == 0);
  CHECK(content(folder / "a/b/out.txt") == "x");

  ProcessRequest both = shell("echo 1; echo 2 >&2; echo 3");
  both.stdout_path = both.stderr_path = folder / "both";
  CHECK(run(processes, both).exit_code == 0);
  CHECK(content(folder / "both") == "1\n2\n3\n");

  ProcessRequest missing = shell("true");
  missing.stdin_path = folder / "missing";
  CHECK(run(processes, missing).start_error ==
        "can not open `" + (folder / "missing") + "`: no such file or directory");
}

TEST_CASE("environment is added to the run's") {
  Folder folder;
  Processes processes({.programs = 1});
  setenv("RADDLE_TEST_OLD", "kept", 1);
  setenv("RADDLE_TEST_BOTH", "old", 1);
  ProcessRequest request = shell("echo $RADDLE_TEST_OLD $RADDLE_TEST_BOTH $RADDLE_TEST_NEW");
  request.environment = {{"RADDLE_TEST_NEW", "new"}, {"RADDLE_TEST_BOTH", "replaced"}};
  request.stdout_path = folder / "out";
  run(processes, request);
  CHECK(content(folder / "out") == "kept replaced new\n");
}

TEST_CASE("no signal is blocked for the program") {
  Folder folder;
  Processes processes({.programs = 1});
  ProcessRequest request = shell("grep SigBlk /proc/self/status");
  request.stdout_path = folder / "out";
  run(processes, request);
  CHECK(content(folder / "out") == "SigBlk:\t0000000000000000\n");
}

TEST_CASE("a program over its time is ended") {
  Processes processes({.programs = 1});
  ProcessRequest request = shell("sleep 100");
  request.timeout_s = 0.05;
  const ProcessResult result = run(processes, request);
  CHECK(result.timed_out);
  CHECK(result.was_asked_to_end);
  CHECK(result.signal == SIGTERM);
  request = shell("kill -TERM $$");
  request.timeout_s = 60;
  const ProcessResult by_itself = run(processes, request);
  CHECK_FALSE(by_itself.timed_out);
  CHECK_FALSE(by_itself.was_asked_to_end);
  CHECK(by_itself.signal == SIGTERM);
}

TEST_CASE("500 at once, and more than the limit") {
  for (const unsigned limit : {500u, 3u}) {
    Processes processes({.programs = limit});
    constexpr int count = 500;
    std::atomic<int> left = count, good = 0;
    for (int i = 0; i < count; ++i) {
      ProcessRequest request;
      request.words = {"/bin/true"};
      processes.spawn(std::move(request), [&](const ProcessResult& result) {
        if (result.start_error.empty() && result.exit_code == 0 && result.signal == 0) ++good;
        if (--left == 0) left.notify_all();
      });
    }
    for (int now; (now = left) != 0;) left.wait(now);
    CHECK(good == count);
  }
}

TEST_CASE("`done` may spawn the next") {
  Processes processes({.programs = 1});
  std::promise<int> last;
  std::atomic<int> count = 0;
  std::function<void(ProcessResult)> next = [&](const ProcessResult&) {
    if (++count == 20) return last.set_value(count);
    processes.spawn(shell("true"), next);
  };
  processes.spawn(shell("true"), next);
  CHECK(last.get_future().get() == 20);
}

TEST_CASE("end_all ends running programs and what they started, forgets waiting ones") {
  Folder folder;
  Processes processes({.programs = 2});
  std::atomic<int> ended = 0;
  auto first = begin(processes, shell("sleep 100 & echo $! > " + (folder / "background") + "; wait"));
  auto second = begin(processes, shell("echo $$ > " + (folder / "second") + "; exec sleep 100"));
  for (int i = 0; i < 5; ++i) processes.spawn(shell("true"), [&](const ProcessResult&) { ++ended; });
  const pid_t background = pid_from(folder / "background");
  const pid_t sleeper = pid_from(folder / "second");
  REQUIRE(is_alive(background));
  REQUIRE(is_alive(sleeper));
  processes.end_all();
  CHECK(first.get().signal == SIGTERM);
  const ProcessResult last = second.get();
  CHECK(last.signal == SIGTERM);
  CHECK(last.was_asked_to_end);
  CHECK(becomes([&] { return !is_alive(background) && !is_alive(sleeper); }));
  CHECK(ended == 0);
  CHECK(run(processes, shell("exit 3")).exit_code == 3);
}

TEST_CASE("end_all at any moment: nothing runs then, and nobody is told any more") {
  for (int round = 0; round < 28; ++round) {
    std::atomic<int> told = 0;
    int told_at_end = 0;
    {
      Processes processes({.programs = 3});
      std::function<void(ProcessResult)> again = [&](const ProcessResult&) {
        if (++told % 3 == 0) processes.spawn(shell("true"), again);
        if (told == 30) processes.end_all();
      };
      const auto ask = [&] {
        for (int i = 0; i < 20; ++i) {
          ProcessRequest request;
          request.words = {i % 7 == 6 ? "/no/such/program" : "/bin/true"};
          request.delay_s = i % 5 == 4 ? 1e-4 : 0;
          request.timeout_s = i % 3 == 2 ? 1e-3 : 0;
          processes.spawn(std::move(request), again);
        }
      };
      std::thread first(ask), second(ask);
      while (told < round) std::this_thread::yield();
      processes.end_all();
      first.join();
      second.join();
      processes.end_all();
      told_at_end = told;
      CHECK(processes.now().running.empty());
      CHECK(processes.now().waiting == 0);
    }
    CHECK(told == told_at_end);
  }
}

TEST_CASE("with few descriptors programs wait for each other, and none fails") {
  Folder folder;
  std::ofstream(folder / "in") << "x";
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = 72;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::atomic<int> good = 0;
  {
    Processes processes({.programs = 32});
    constexpr int count = 300;
    std::atomic<int> left = count;
    for (int i = 0; i < count; ++i) {
      ProcessRequest request;
      request.words = {"/bin/true"};
      request.stdin_path = folder / "in";
      request.stdout_path = folder / ("out" + std::to_string(i)).c_str();
      request.stderr_path = folder / ("error" + std::to_string(i)).c_str();
      processes.spawn(std::move(request), [&](const ProcessResult& result) {
        if (result.start_error.empty() && result.exit_code == 0) ++good;
        if (--left == 0) left.notify_all();
      });
    }
    for (int now; (now = left) != 0;) left.wait(now);
  }
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(good == 300);
}

TEST_CASE("the destructor ends what runs") {
  Folder folder;
  pid_t sleeper = 0;
  {
    Processes processes({.programs = 1});
    begin(processes, shell("echo $$ > " + (folder / "pid") + "; exec sleep 100"));
    sleeper = pid_from(folder / "pid");
    REQUIRE(is_alive(sleeper));
  }
  CHECK_FALSE(is_alive(sleeper));
}

#ifndef __SANITIZE_THREAD__  // which does not allow threads after a fork
TEST_CASE("a fork of the run that ends leaves the run's programs alone") {
  Folder folder;
  Processes processes({.programs = 1});
  const auto ended = begin(processes, shell("echo $$ > " + (folder / "pid") + "; exec sleep 100"));
  const pid_t sleeper = pid_from(folder / "pid");
  const pid_t copy = fork();
  if (copy == 0) std::exit(0);
  waitpid(copy, nullptr, 0);
  CHECK_FALSE(becomes([&] { return !is_alive(sleeper); }));
}

TEST_CASE("programs do not outlive a run that is killed") {
  Folder folder;
  const pid_t runner = fork();
  if (runner == 0) {
    Processes processes({.programs = 1});
    begin(processes, shell("echo $$ > " + (folder / "pid") + "; exec sleep 100")).wait();
    _exit(0);
  }
  const pid_t sleeper = pid_from(folder / "pid");
  REQUIRE(is_alive(sleeper));
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  CHECK(becomes([&] { return !is_alive(sleeper); }));
}
#endif
