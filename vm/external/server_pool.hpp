#pragma once
// Processes that answer requests, one at a time each, and stay for further ones: interpreters of other languages.
//
// Protocol: standard input of the process is one end of a socket pair; requests come and answers go through it, each as
// its length (8 bytes, little endian) and the bytes. What the bytes mean is the affair of whoever asks. Standard output
// and error are the run's.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace raddle::vm {

struct ServerAnswer {
  std::string bytes;
  std::string error;  ///< not empty: there is no answer: "it was ended by signal 11 (Segmentation fault)"
};

/// A server has a thread of ours that asks it and waits. A server that ends in the middle of a request loses that
/// request only: the next one gets a new server.
class ServerPool {
 public:
  /// @param command  started for each server   @param limit  most servers, at least 1
  ServerPool(std::vector<std::string> command, unsigned limit);
  /// Kills the servers and what they have started; requests without an answer are dropped.
  ~ServerPool();
  /// Any thread. `done` is called once, on a thread of the pool.
  void ask(std::string request, std::function<void(ServerAnswer)> done);

 private:
  class Server;
  struct Request {
    std::string bytes;
    std::function<void(ServerAnswer)> done;
  };
  void serve(Server& server);

  const std::vector<std::string> command_;
  const unsigned limit_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::vector<std::unique_ptr<Server>> servers_;
  unsigned idle_ = 0;  // servers whose thread waits for a request
  bool ending_ = false;
};

}  // namespace raddle::vm
