#include "vm/external/output_tap.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

using raddle::vm::FileDescriptor;
using raddle::vm::OutputSink;
using raddle::vm::Processes;
using raddle::vm::ProcessResult;

namespace {

/// What came through a sink.
class Taken {
 public:
  OutputSink sink(int terminal_fd = -1) {
    return {.take =
                [this](std::string_view text) {
                  const std::lock_guard lock(mutex_);
                  text_ += text;
                  return true;
                },
            .terminal_fd = terminal_fd};
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;  // guards text_
  std::string text_;
};

ProcessResult run(Processes& processes, const std::string& line, const std::string& stdout_path = "") {
  std::promise<ProcessResult> result;
  raddle::vm::ProcessRequest request;
  request.words = {"sh", "-c", line};
  request.stdout_path = stdout_path;
  processes.spawn(std::move(request), [&](ProcessResult ended) { result.set_value(std::move(ended)); });
  return result.get_future().get();
}

}  // namespace

TEST_CASE("what programs print is passed on, and its end kept, of each its own") {
  Taken out, error;
  Processes processes({.programs = 1}, {.out = out.sink(), .error = error.sink()});
  const ProcessResult first = run(processes, "echo 1; echo oh >&2");
  CHECK((first.out.end == "1\n" && first.out.size == 2 && first.error.end == "oh\n"));
  const ProcessResult none = run(processes, "true");
  CHECK((none.out.end.empty() && none.out.size == 0 && none.error.end.empty()));
  const ProcessResult redirected = run(processes, "echo 2; echo 3 >&2", "/dev/null");
  CHECK((redirected.out.size == 0 && redirected.error.end == "3\n"));
  const ProcessResult much = run(processes, "seq 1 200000");
  CHECK(much.out.size == 1288895);
  CHECK((much.out.end.size() == 4096 && much.out.end.ends_with("\n199999\n200000\n")));
  CHECK(out.text().size() == 2 + 1288895);
  CHECK(error.text() == "oh\n3\n");
}

TEST_CASE("streams that are one keep their order") {
  Taken both;
  Processes processes({.programs = 1}, {.out = both.sink(), .error = {}, .are_one = true});
  const std::string line = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done";
  const std::string text = "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\no6\ne6\no7\ne7\no8\ne8\no9\ne9\n";
  const ProcessResult mixed = run(processes, line);
  CHECK(mixed.out.end == text);
  CHECK(both.text() == text);
  CHECK(run(processes, "echo o; echo e >&2", "/dev/null").error.end == "e\n");
}

TEST_CASE("what a program leaves behind does not print into what the next one prints") {
  Taken out;
  Processes processes({.programs = 1}, {.out = out.sink(), .error = {}});
  const std::string gate = "output_tap_test_" + std::to_string(getpid());
  const std::string wait = "while ! test -e " + gate + "; do sleep 0.01; done; ";
  CHECK(run(processes, "echo 1; setsid sh -c '" + wait + "echo late; rm " + gate + "' &").out.end == "1\n");
  CHECK(run(processes, "touch " + gate + "; while test -e " + gate + "; do sleep 0.01; done; echo 2").out.end == "2\n");
  CHECK(run(processes, "echo 3").out.end == "3\n");
  // they have pipes of their own: which of two is read first nobody says
  std::string text = out.text();
  for (int i = 0; i < 2000 && text.find("late\n") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    text = out.text();
  }
  const std::size_t late = text.find("late\n");
  REQUIRE(late != std::string::npos);
  CHECK(text.erase(late, 5) == "1\n2\n3\n");
}

TEST_CASE("each of many programs that leave others behind is told of") {
  Taken out;
  Processes processes({.programs = 8}, {.out = out.sink(), .error = {}});
  constexpr int count = 200;
  std::mutex mutex;  // guards ended
  std::condition_variable changed;
  int ended = 0;
  for (int i = 0; i < count; ++i) {
    raddle::vm::ProcessRequest request;
    request.words = {"sh", "-c", "(sleep 0.0" + std::to_string(i % 7) + ") & sleep 0.0" + std::to_string(i % 4)};
    processes.spawn(std::move(request), [&](ProcessResult) {
      const std::lock_guard lock(mutex);
      ++ended;
      changed.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  CHECK(changed.wait_for(lock, std::chrono::seconds(60), [&] { return ended == count; }));
}

TEST_CASE("a sink that is full holds up only what prints to it") {
  std::atomic<bool> is_full = true;
  Taken out;
  OutputSink sink = out.sink();
  sink.is_full = [&] { return is_full.load(); };
  Processes processes({.programs = 2}, {.out = sink, .error = {}});
  std::promise<ProcessResult> result;
  raddle::vm::ProcessRequest request;
  request.words = {"seq", "1", "100000"};
  processes.spawn(std::move(request), [&](ProcessResult ended) { result.set_value(std::move(ended)); });
  CHECK(run(processes, "true").exit_code == 0);
  CHECK(out.text().empty());
  is_full = false;
  CHECK(result.get_future().get().out.size == 588895);
  CHECK(out.text().size() == 588895);
}

TEST_CASE("who prints to nobody is told so") {
  Processes processes({.programs = 1}, {.out = {.take = [](std::string_view) { return false; }}, .error = {}});
  CHECK(run(processes, "exec yes").signal == SIGPIPE);
  CHECK(run(processes, "exec yes").signal == SIGPIPE);
}

TEST_CASE("where we have a terminal, programs find one, too") {
  const FileDescriptor terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(terminal);
  Taken out;
  Processes processes({.programs = 1}, {.out = out.sink(terminal.get()), .error = {}});
  for (int i = 0; i < 50; ++i) {
    const ProcessResult ended = run(processes, "test -t 1 && echo yes");
    REQUIRE(ended.out.end == "yes\n");
  }
  CHECK(run(processes, "seq 1 20000").out.size == 108894);
}
