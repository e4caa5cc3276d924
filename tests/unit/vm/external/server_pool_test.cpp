#include "vm/external/server_pool.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <memory>
#include <set>

using raddle::vm::ServerAnswer;
using raddle::vm::ServerPool;

namespace {

// Answers with its process id and the request; ends at the requests "end" and "kill", sleeps at "sleep".
const std::vector<std::string> server = {"python3", "-c", R"(
import os, signal, socket, struct, time
channel = socket.socket(fileno=0)
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
    answer = str(os.getpid()).encode() + b" " + request
    channel.sendall(struct.pack("<Q", len(answer)) + answer)
)"};

std::future<ServerAnswer> begin(ServerPool& pool, std::string request) {
  auto answer = std::make_shared<std::promise<ServerAnswer>>();
  auto future = answer->get_future();
  pool.ask(std::move(request), [answer](ServerAnswer given) { answer->set_value(std::move(given)); });
  return future;
}

ServerAnswer ask(ServerPool& pool, std::string request) { return begin(pool, std::move(request)).get(); }

std::string id_of(const ServerAnswer& answer) { return answer.bytes.substr(0, answer.bytes.find(' ')); }

}  // namespace

TEST_CASE("a server stays for further requests, of any length") {
  ServerPool pool(server, 1);
  const ServerAnswer first = ask(pool, "one");
  CHECK(first.error == "");
  CHECK(first.bytes == id_of(first) + " one");
  CHECK(ask(pool, "").bytes == id_of(first) + " ");
  const std::string large(3'000'000, 'x');
  CHECK(ask(pool, large).bytes == id_of(first) + " " + large);
}

TEST_CASE("a server that ends loses its request only") {
  ServerPool pool(server, 1);
  const std::string before = id_of(ask(pool, "x"));
  CHECK(ask(pool, "end").error == "it ended with exit code 7");
  const ServerAnswer after = ask(pool, "x");
  CHECK(after.error == "");
  CHECK(id_of(after) != before);
  CHECK(ask(pool, "kill").error == "it was ended by signal 9 (Killed)");
  CHECK(ask(pool, "x").error == "");
}

TEST_CASE("requests go to no more servers than allowed") {
  ServerPool pool(server, 3);
  std::vector<std::future<ServerAnswer>> answers;
  for (int i = 0; i < 60; ++i) answers.push_back(begin(pool, std::to_string(i)));
  std::set<std::string> ids;
  for (auto& answer : answers) ids.insert(id_of(answer.get()));
  CHECK(ids.size() >= 1);
  CHECK(ids.size() <= 3);
}

TEST_CASE("a server that can not be started is told") {
  ServerPool pool({"raddle-no-such-program"}, 2);
  CHECK(ask(pool, "x").error == "`raddle-no-such-program` could not be started: no such file or directory");
}

TEST_CASE("the end of a pool does not wait for answers") {
  const auto begin_time = std::chrono::steady_clock::now();
  {
    ServerPool pool(server, 2);
    CHECK(ask(pool, "x").error == "");
    for (int i = 0; i < 5; ++i) pool.ask("sleep", [](const ServerAnswer&) { FAIL("it was to be dropped"); });
  }
  CHECK(std::chrono::steady_clock::now() - begin_time < std::chrono::seconds(60));
}
