#pragma once
// Processes that answer requests, one at a time each, and stay for further ones: interpreters of other languages.
//
// Protocol: requests come through standard input, answers go through file descriptor 3, a pipe, each as its length
// (8 bytes, little endian) and the bytes. What the bytes mean is the affair of whoever asks. What a server prints it is
// to write before it answers. File descriptor 4 is memory that it shares with us, if it was made with some.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "vm/external/processes.hpp"
#include "vm/external/rank_environment.hpp"
#include "vm/value/rank_wish.hpp"

namespace raddle::vm {

enum class ServerStatus {
  answered,
  not_started,  ///< for the program, a thread or a file descriptor
  ended,        ///< in the middle of the request
};

struct ServerAnswer {
  ServerStatus status;
  std::string bytes;                  ///< if answered
  std::string error;                  ///< if not: "it was ended by signal 11 (Segmentation fault)"
  std::int32_t rank = RankWish::any;  ///< of the server; any: there was none
};

/// A server has a thread of ours that asks it and waits. A server that ends in the middle of a request loses that
/// request only, even if what it has started lives on: the next one gets a new server.
///
/// Each rank has one server, which is started at its first request: what a request has left there is found by those
/// that need its rank, and by those that prefer it, as they follow on what it has done. Others go to the one that has
/// become idle last, else to a new one, and only then to one that some request has needed.
class ServerPool {
 public:
  /// Starts a thread, or throws std::system_error where the system has none left.
  using StartThread = std::thread (*)(std::function<void()> body);

  /// What is said to an answer before the request is done: another request to the same server, or nothing. On a thread
  /// of the pool.
  using GoOn = std::function<std::optional<std::string>(const std::string& answer)>;

  /// @param command  started for each server   @param limit  of ranks, at least 1
  /// @param outputs  outlives it   @param variables  that ranks have set
  /// @param memory_fd  that servers get; outlives it   -1: none
  ServerPool(
      std::vector<std::string> command, unsigned limit, const ProgramOutputs& outputs,
      std::vector<Variables> variables = {}, int memory_fd = -1,
      StartThread start_thread = [](std::function<void()> body) { return std::thread(std::move(body)); });
  ~ServerPool();
  /// Kills the servers and what they have started; requests without an answer are dropped, as are later ones.
  void end();
  /// After end(): waits for its threads, which may be asking other pools.
  void join();
  /// Any thread. `done` is called once, on a thread of the pool; at once where no thread can be started for it. With
  /// the last answer, if `go_on` has said something to others.
  void ask(std::string request, RankWish wish, std::function<void(ServerAnswer)> done, GoOn go_on = {});

 private:
  class Server;
  struct Request {
    std::string bytes;
    std::function<void(ServerAnswer)> done;
    GoOn go_on;
    Server* server = nullptr;  ///< that is to answer; null: any
  };
  void serve(Server& server);
  // With mutex_ held:
  Server* choose(RankWish wish, std::string& error);
  Server* latest_idle(bool is_needed);
  Server* started(std::int32_t rank, std::string& error);
  std::deque<Request>::iterator next_for(const Server& server);

  const std::vector<std::string> command_;
  const ProgramOutputs& outputs_;
  const std::vector<Variables> variables_;
  const int memory_fd_;
  const StartThread start_thread_;
  std::mutex mutex_;  // guards all below
  std::deque<Request> waiting_;
  std::vector<std::unique_ptr<Server>> servers_;  // by rank; null: not started
  std::uint64_t turns_ = 0;                       // how often a server has become idle
  bool ending_ = false;
};

}  // namespace raddle::vm
