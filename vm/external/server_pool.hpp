#pragma once
// Processes that answer requests, one at a time each, and stay for further ones: interpreters of other languages.
//
// Protocol: requests come through standard input, answers go through file descriptor 3, a pipe, each as its length
// (8 bytes, little endian) and the bytes. What the bytes mean is the affair of whoever asks. What a server prints it is
// to write before it answers.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vm/external/processes.hpp"

namespace raddle::vm {

enum class ServerStatus {
  answered,
  not_started,  ///< for the program, a thread or a file descriptor
  ended,        ///< in the middle of the request
};

struct ServerAnswer {
  ServerStatus status;
  std::string bytes;  ///< if answered
  std::string error;  ///< if not: "it was ended by signal 11 (Segmentation fault)"
};

/// A server has a thread of ours that asks it and waits. A server that ends in the middle of a request loses that
/// request only, even if what it has started lives on: the next one gets a new server.
class ServerPool {
 public:
  /// Starts a thread, or throws std::system_error where the system has none left.
  using StartThread = std::thread (*)(std::function<void()> body);

  /// @param command  started for each server   @param limit  most servers, at least 1
  /// @param outputs  outlives it
  ServerPool(
      std::vector<std::string> command, unsigned limit, const ProgramOutputs& outputs,
      StartThread start_thread = [](std::function<void()> body) { return std::thread(std::move(body)); });
  /// Kills the servers and what they have started; requests without an answer are dropped.
  ~ServerPool();
  /// Any thread. `done` is called once, on a thread of the pool; at once where not even a first thread can be started.
  void ask(std::string request, std::function<void(ServerAnswer)> done);

 private:
  class Server;
  struct Request {
    std::string bytes;
    std::function<void(ServerAnswer)> done;
  };
  void serve(Server& server);
  /// With mutex_ held. @return an error's text
  std::string add_server();

  const std::vector<std::string> command_;
  const unsigned limit_;
  const ProgramOutputs& outputs_;
  const StartThread start_thread_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::vector<std::unique_ptr<Server>> servers_;
  unsigned idle_ = 0;  // servers whose thread waits for a request
  bool ending_ = false;
};

}  // namespace raddle::vm
