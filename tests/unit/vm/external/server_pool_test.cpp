#include "vm/external/server_pool.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "vm/memory/shared_blocks.hpp"

using raddle::vm::ProgramOutputs;
using raddle::vm::RankWish;
using raddle::vm::ServerAnswer;
using raddle::vm::ServerPool;
using raddle::vm::ServerStatus;
using raddle::vm::SharedBlocks;

namespace {

// Answers with its process id and the request; ends at the requests "end" and "kill", sleeps at "sleep". "gather FOLDER
// N" leaves a file in the folder and is answered when N lie there. At "heir" it ends, while a fork of it keeps the
// connection. "memory OFFSET": five bytes of what is there.
const std::vector<std::string> server = {"python3", "-c", R"(
import os, signal, socket, struct, sys, time
channel = socket.socket(fileno=0)
def send(data):
    while data:
        data = data[os.write(3, data):]
def receive(count):
    data = b""
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part:
            os._exit(0)
        data += part
    return data
while True:
    request = receive(struct.unpack("<Q", receive(8))[0])
    if request == b"end":
        os._exit(7)
    if request == b"kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if request == b"sleep":
        time.sleep(600)
    if request == b"heir" or request == b"answer and heir":
        if os.fork() == 0:
            time.sleep(600)
        if request != b"heir":
            send(struct.pack("<Q", 2) + b"ok")
        os._exit(5)
    if request.startswith(b"gather"):
        _, folder, count = request.split()
        open(os.path.join(folder, str(os.getpid()).encode()), "w").close()
        while len(os.listdir(folder)) < int(count):
            time.sleep(0.001)
    if request.startswith(b"print"):
        print(request.decode() * 10000, flush=True)
        print("oh", file=sys.stderr, flush=True)
    answer = str(os.getpid()).encode() + b" " + request
    if request.startswith(b"memory"):
        answer = os.pread(4, 5, int(request.split()[1]))
    send(struct.pack("<Q", len(answer)) + answer)
)"};

const ProgramOutputs no_outputs;

std::future<ServerAnswer> begin(ServerPool& pool, std::string request, RankWish wish = {}) {
  auto answer = std::make_shared<std::promise<ServerAnswer>>();
  auto future = answer->get_future();
  pool.ask(std::move(request), wish, [answer](ServerAnswer given) { answer->set_value(std::move(given)); });
  return future;
}

ServerAnswer ask(ServerPool& pool, std::string request) { return begin(pool, std::move(request)).get(); }

std::string id_of(const ServerAnswer& answer) { return answer.bytes.substr(0, answer.bytes.find(' ')); }

}  // namespace

TEST_CASE("a server stays for further requests, of any length") {
  ServerPool pool(server, 1, no_outputs);
  const ServerAnswer first = ask(pool, "one");
  CHECK(first.error == "");
  CHECK(first.bytes == id_of(first) + " one");
  CHECK(ask(pool, "").bytes == id_of(first) + " ");
  const std::string large(3'000'000, 'x');
  CHECK(ask(pool, large).bytes == id_of(first) + " " + large);
}

TEST_CASE("what is said to an answer goes to the same server, and the last answer is told") {
  ServerPool pool(server, 3, no_outputs);
  std::vector<std::future<ServerAnswer>> answers;
  std::array<std::vector<std::string>, 20> heard;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    auto answer = std::make_shared<std::promise<ServerAnswer>>();
    answers.push_back(answer->get_future());
    const auto go_on = [&said = heard[i]](const std::string& bytes) -> std::optional<std::string> {
      said.push_back(bytes);
      return said.size() < 3 ? std::optional(std::to_string(said.size())) : std::nullopt;
    };
    pool.ask(
        "0", {}, [answer](ServerAnswer given) { answer->set_value(std::move(given)); }, go_on);
  }
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const ServerAnswer last = answers[i].get();
    const std::string id = id_of(last);
    CHECK(last.bytes == id + " 2");
    CHECK(heard[i] == std::vector{id + " 0", id + " 1", id + " 2"});
  }
}

TEST_CASE("a server that ends while it is spoken to loses the request") {
  ServerPool pool(server, 1, no_outputs);
  std::promise<ServerAnswer> answer;
  pool.ask(
      "0", {}, [&](ServerAnswer given) { answer.set_value(std::move(given)); },
      [](const std::string&) { return std::optional<std::string>("end"); });
  CHECK(answer.get_future().get().error == "it ended with exit code 7");
  CHECK(ask(pool, "x").error == "");
}

TEST_CASE("servers get the memory that the pool has") {
  REQUIRE(SharedBlocks::begin() == "");
  const SharedBlocks::Block block = SharedBlocks::take(SharedBlocks::least_bytes);
  std::memcpy(block.address, "seen?", 5);
  ServerPool pool(server, 1, no_outputs, {}, SharedBlocks::descriptor());
  CHECK(ask(pool, fmt::format("memory {}", block.offset)).bytes == "seen?");
  SharedBlocks::give_back(block, SharedBlocks::least_bytes);
}

TEST_CASE("a server that ends loses its request only") {
  ServerPool pool(server, 1, no_outputs);
  const std::string before = id_of(ask(pool, "x"));
  CHECK(ask(pool, "end").error == "it ended with exit code 7");
  const ServerAnswer after = ask(pool, "x");
  CHECK(after.error == "");
  CHECK(id_of(after) != before);
  CHECK(ask(pool, "kill").error == "it was ended by signal 9 (Killed)");
  CHECK(ask(pool, "x").error == "");
}

TEST_CASE("requests go to no more servers than allowed") {
  ServerPool pool(server, 3, no_outputs);
  std::vector<std::future<ServerAnswer>> answers;
  for (int i = 0; i < 60; ++i) answers.push_back(begin(pool, std::to_string(i)));
  std::set<std::string> ids;
  for (auto& answer : answers) ids.insert(id_of(answer.get()));
  CHECK(ids.size() <= 3);
}

TEST_CASE("each rank has a server; one that is needed or preferred answers") {
  ServerPool pool(server, 3, no_outputs);
  const auto asked = [&](RankWish wish) { return begin(pool, "x", wish).get(); };
  const ServerAnswer first = asked({0, true}), second = asked({1, true});
  CHECK(first.rank == 0);
  CHECK(second.rank == 1);
  CHECK(id_of(first) != id_of(second));
  CHECK(id_of(asked({0, true})) == id_of(first));
  CHECK(asked({1, false}).rank == 1);
  CHECK(asked({}).rank == 2);  // the others are needed
  CHECK(asked({}).rank == 2);
  CHECK(ask(pool, "end").error != "");
  CHECK(asked({2, true}).error == "");
  std::vector<std::future<ServerAnswer>> answers;
  for (int i = 0; i < 60; ++i) answers.push_back(begin(pool, "x", {i % 3, true}));
  for (int i = 0; i < 60; ++i) CHECK(answers[static_cast<std::size_t>(i)].get().rank == i % 3);
  ServerPool other(server, 3, no_outputs);
  CHECK(begin(other, "x", {1, false}).get().rank == 1);  // which has none yet
}

TEST_CASE("as many servers as allowed answer at once") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("raddle-{}", getpid());
  std::filesystem::create_directory(folder);
  const std::string request = fmt::format("gather {} 3", folder.string());  // no answer before three work at it
  {
    ServerPool pool(server, 3, no_outputs);
    std::vector<std::future<ServerAnswer>> answers;
    for (int i = 0; i < 9; ++i) answers.push_back(begin(pool, request));
    std::map<std::string, int> count_of;
    for (auto& answer : answers) ++count_of[id_of(answer.get())];
    CHECK(count_of.size() == 3);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a server that ends is told although a fork of it keeps the connection") {
  ServerPool pool(server, 1, no_outputs);
  const ServerAnswer answer = ask(pool, "heir");
  CHECK(answer.status == ServerStatus::ended);
  CHECK(answer.error == "it ended with exit code 5");
  CHECK(ask(pool, "answer and heir").bytes == "ok");
  // larger than what the connection holds: nobody reads it
  const ServerAnswer unread = ask(pool, std::string(10'000'000, 'x'));
  CHECK(unread.status == ServerStatus::ended);
  CHECK(unread.error == "it ended with exit code 5");
  CHECK(ask(pool, "x").status == ServerStatus::answered);
}

TEST_CASE("no thread for the first server is told; fewer servers than allowed do the work") {
  static int left;
  const ServerPool::StartThread few = [](std::function<void()> body) {
    if (left-- <= 0) throw std::system_error(EAGAIN, std::generic_category());
    return std::thread(std::move(body));
  };
  left = 0;
  ServerPool none(server, 3, no_outputs, {}, -1, few);
  const ServerAnswer answer = ask(none, "x");
  CHECK(answer.status == ServerStatus::not_started);
  CHECK(answer.error == "no thread could be started: resource temporarily unavailable");
  left = 1;
  ServerPool one(server, 3, no_outputs, {}, -1, few);
  std::vector<std::future<ServerAnswer>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(begin(one, "x"));
  std::set<std::string> ids;
  for (auto& given : answers) ids.insert(id_of(given.get()));
  CHECK(ids.size() == 1);
}

TEST_CASE("a server that can not be started is told") {
  ServerPool pool({"raddle-no-such-program"}, 2, no_outputs);
  CHECK(ask(pool, "x").error == "`raddle-no-such-program` could not be started: no such file or directory");
}

TEST_CASE("the end of a pool does not wait for answers") {
  std::atomic<bool> answered = false;
  const auto begin_time = std::chrono::steady_clock::now();
  {
    ServerPool pool(server, 2, no_outputs);
    CHECK(ask(pool, "x").error == "");
    for (int i = 0; i < 5; ++i) pool.ask("sleep", {}, [&](const ServerAnswer&) { answered = true; });
  }
  CHECK(!answered);
  CHECK(std::chrono::steady_clock::now() - begin_time < std::chrono::seconds(60));
}

TEST_CASE("what servers print is passed on before they answer") {
  std::string out, error;  // of the only server's thread
  ProgramOutputs outputs;
  outputs.out.take = [&](std::string_view text) { return !(out += text).empty(); };
  outputs.error.take = [&](std::string_view text) { return !(error += text).empty(); };
  outputs.of_servers = true;
  ServerPool pool(server, 1, outputs);
  REQUIRE(ask(pool, "print 1").status == ServerStatus::answered);
  CHECK((out.size() == 70001 && error == "oh\n"));
  REQUIRE(ask(pool, "print 12").status == ServerStatus::answered);
  CHECK((out.size() == 150002 && error == "oh\noh\n"));
}
