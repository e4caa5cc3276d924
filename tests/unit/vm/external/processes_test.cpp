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

using raddle::vm::Processes;
using raddle::vm::ProcessRequest;
using raddle::vm::ProcessResult;

namespace {

ProcessRequest shell(const std::string& line) {
  ProcessRequest request;
  request.words = {"sh", "-c", line};
  return request;
}

std::future<ProcessResult> begin(Processes& processes, ProcessRequest request) {
  auto result = std::make_shared<std::promise<ProcessResult>>();
  auto future = result->get_future();
  processes.spawn(std::move(request), [result](ProcessResult ended) { result->set_value(std::move(ended)); });
  return future;
}

ProcessResult run(Processes& processes, ProcessRequest request) { return begin(processes, std::move(request)).get(); }

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// A folder of its own for a test, removed with it.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "raddle_test_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

// "Cpus_allowed_list: 0-1"
std::string core_list(const std::string& status_file) {
  std::ifstream in(status_file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("Cpus_allowed_list")) return line;
  return "";
}

// Waits (bounded) for what another process does in its own time.
template <typename Condition>
bool becomes(Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool is_alive(pid_t pid) {
  if (kill(pid, 0) != 0) return false;
  const std::string stat = content("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end + 2, 1, "Z") != 0;
}

// The number that a program writes to `path` once it runs.
pid_t pid_from(const std::string& path) {
  pid_t pid = 0;
  becomes([&] {
    const std::string text = content(path);
    if (text.empty() || text.back() != '\n') return false;
    pid = std::stoi(text);
    return true;
  });
  return pid;
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

TEST_CASE("a named pipe whose other end nobody has open keeps no other program from starting") {
  Folder folder;
  const std::string sink = folder / "sink", source = folder / "source";
  REQUIRE(mkfifo(sink.c_str(), 0600) == 0);
  REQUIRE(mkfifo(source.c_str(), 0600) == 0);
  Processes processes({.programs = 1});
  ProcessRequest through;
  through.words = {"cat"};
  through.stdin_path = source;
  through.stdout_path = sink;
  auto ended = begin(processes, through);
  CHECK(run(processes, shell("true")).exit_code == 0);
  std::thread writer([&] { std::ofstream(source) << "text"; });
  CHECK(run(processes, shell("exit 3")).exit_code == 3);
  CHECK(content(sink) == "text");
  writer.join();
  CHECK(ended.get().exit_code == 0);
}

TEST_CASE("a program that answers through named pipes starts before anything is said") {
  Folder folder;
  const std::string question = folder / "question", answer = folder / "answer";
  REQUIRE(mkfifo(question.c_str(), 0600) == 0);
  REQUIRE(mkfifo(answer.c_str(), 0600) == 0);
  Processes processes({.programs = 2});
  ProcessRequest server;
  server.words = {"cat"};
  server.stdin_path = question;
  server.stdout_path = answer;
  auto served = begin(processes, server);
  ProcessRequest client = shell("exec 3>\"$0\"; exec 4<\"$1\"; echo text >&3; read line <&4; test \"$line\" = text");
  client.words.push_back(question);
  client.words.push_back(answer);
  CHECK(run(processes, client).exit_code == 0);
  CHECK(served.get().exit_code == 0);
}

TEST_CASE("the time limit counts while a program waits for a named pipe") {
  Folder folder;
  const std::string source = folder / "source";
  REQUIRE(mkfifo(source.c_str(), 0600) == 0);
  Processes processes({.programs = 1});
  ProcessRequest request;
  request.words = {"cat"};
  request.stdin_path = source;
  request.timeout_s = 0.05;
  const ProcessResult ended = run(processes, request);
  CHECK(ended.timed_out);
  CHECK(ended.duration_s >= 0.05);
}

TEST_CASE("programs that wait for a named pipe are forgotten with the others") {
  Folder folder;
  const std::string sink = folder / "sink";
  REQUIRE(mkfifo(sink.c_str(), 0600) == 0);
  Processes processes({.programs = 2});
  ProcessRequest request;
  request.words = {"true"};
  request.stdout_path = sink;
  std::atomic<bool> told = false;
  processes.spawn(request, [&told](const ProcessResult&) { told = true; });
  CHECK(run(processes, shell("true")).exit_code == 0);
  processes.end_all();
  CHECK(run(processes, shell("true")).exit_code == 0);  // the loop has gone on since
  CHECK(!told);
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
