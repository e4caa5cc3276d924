#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/unit/vm/external/external_programs.hpp"
#include "vm/external/processes.hpp"

using namespace raddle::vm;

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
