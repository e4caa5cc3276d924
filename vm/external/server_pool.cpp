#include "vm/external/server_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>

#include "vm/external/output_pipe.hpp"
#include "vm/external/start_child.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {
namespace {

constexpr int end_wait_ms = 1000;                                 // from the end of the connection to the process's own
constexpr std::uint64_t longest_answer = std::uint64_t{1} << 40;  // a length beyond is no length
constexpr std::size_t longest_part = std::size_t{1} << 20;  // received at once: no length is believed before its bytes

void pass_on(std::vector<OutputPipe>& outputs) {
  for (OutputPipe& output : outputs)
    if (!output.read_some()) output.close_our_end();
}

/// Our ends of the connection, and the process at the other. The connection alone does not tell the end of the process:
/// what the process has left running may hold its ends open.
class Connection {
 public:
  /// @param requests  a socket, as writing to a pipe may raise a signal   @param answers  a pipe that does not block
  /// @param outputs   is passed on meanwhile
  Connection(int requests, int answers, int pid_fd, std::vector<OutputPipe>& outputs)
      : requests_(requests), answers_(answers), pid_fd_(pid_fd), outputs_(outputs) {}

  bool send_all(const char* bytes, std::size_t count) {
    return move_all({requests_, POLLOUT, 0}, count, [&](std::size_t done) {
      return send(requests_, bytes + done, count - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    });
  }
  bool receive_all(char* bytes, std::size_t count) {
    return move_all({answers_, POLLIN, 0}, count,
                    [&](std::size_t done) { return read(answers_, bytes + done, count - done); });
  }

 private:
  /// Calls `move` until it has moved `count` bytes. After the process has ended, what it has sent is still moved.
  template <typename Move>
  bool move_all(pollfd event, std::size_t count, Move move) {
    bool has_ended = false;
    for (std::size_t done = 0; done < count;) {
      const ssize_t moved = move(done);
      if (moved > 0) {
        done += static_cast<std::size_t>(moved);
      } else if (moved == 0 || (errno != EAGAIN && errno != EINTR)) {
        return false;
      } else if (errno == EAGAIN) {
        if (has_ended) return false;
        has_ended = wait(event);
      }
    }
    return true;
  }
  /// @return  whether the process has ended
  bool wait(pollfd event) {
    std::vector<pollfd> watched{event, {pid_fd_, POLLIN, 0}};
    for (const OutputPipe& output : outputs_) watched.push_back({output.our_end(), POLLIN, 0});
    while (poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
    }
    pass_on(outputs_);
    return watched[1].revents != 0;
  }

  const int requests_, answers_, pid_fd_;
  std::vector<OutputPipe>& outputs_;
};

std::optional<std::string> exchange(Connection connection, const std::string& request) {
  std::uint64_t length = request.size();
  char header[sizeof length];
  std::memcpy(header, &length, sizeof length);
  if (!connection.send_all(header, sizeof header)) return std::nullopt;
  if (!connection.send_all(request.data(), request.size())) return std::nullopt;
  if (!connection.receive_all(header, sizeof header)) return std::nullopt;
  std::memcpy(&length, header, sizeof length);
  if (length > longest_answer) return std::nullopt;
  std::string answer;
  while (answer.size() < length) {
    const std::size_t begin = answer.size();
    answer.resize(begin + std::min<std::size_t>(length - begin, longest_part));
    if (!connection.receive_all(answer.data() + begin, answer.size() - begin)) return std::nullopt;
  }
  return answer;
}

std::string end_text(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return fmt::format("it ended with exit code {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return fmt::format("it was ended by signal {} ({})", signal, strsignal(signal));
}

}  // namespace

/// One process and the thread that asks it.
class ServerPool::Server {
 public:
  Server(const ProgramOutputs& outputs, std::int32_t rank, Variables environment, int memory_fd)
      : rank(rank), destination_(outputs), environment_(std::move(environment)), memory_fd_(memory_fd) {}
  ServerAnswer ask(const std::vector<std::string>& command, const std::string& request) {
    if (requests_.get() < 0) {
      if (std::string error = start(command); !error.empty()) return {ServerStatus::not_started, {}, std::move(error)};
    }
    auto answer = exchange({requests_.get(), answers_.get(), pid_fd_.get(), outputs_}, request);
    std::string end = answer ? "" : reap();
    pass_on(outputs_);
    if (answer) return {ServerStatus::answered, std::move(*answer), {}};
    return {ServerStatus::ended, {}, std::move(end)};
  }

  /// Any thread: kills the process and lets no other start.
  void kill_for_good() {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    if (pid_ > 0) kill(-pid_, SIGKILL);
  }

  /// By its own thread, at its end.
  void stop() {
    if (requests_.get() < 0) return;
    requests_ = FileDescriptor();
    reap();
    pass_on(outputs_);
  }

  const std::int32_t rank;
  std::thread thread;
  std::condition_variable changed;  // with the next two, under the pool's mutex
  std::uint64_t idle_since = 0;     // the turn at which it has become idle; 0: it is not, or is about to be asked
  bool is_needed = false;           // by some request

 private:
  std::string start(const std::vector<std::string>& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return error_text(errno);
    FileDescriptor ours(ends[0]);
    const FileDescriptor theirs(ends[1]);
    if (pipe2(ends, O_CLOEXEC) != 0) return error_text(errno);
    FileDescriptor answers(ends[0]);
    const FileDescriptor its_answers(ends[1]);
    fcntl(answers.get(), F_SETFL, O_NONBLOCK);
    if (const int error = open_outputs(); error != 0) return error_text(error);
    const std::lock_guard lock(mutex_);
    if (is_ended_) return "the run has ended";
    const auto pid = start_child({.words = command,
                                  .environment = environment_,
                                  .stdin_fd = theirs.get(),
                                  .stdout_fd = outputs_.empty() ? -1 : outputs_.front().program_end(),
                                  .stderr_fd = outputs_.empty() ? -1 : outputs_.back().program_end(),
                                  .answer_fd = its_answers.get(),
                                  .memory_fd = memory_fd_});
    if (!pid) return fmt::format("`{}` could not be started: {}", command[0], error_text(pid.error()));
    pid_ = *pid;
    pid_fd_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (pid_fd_.get() < 0) {
      const int error = errno;
      end_process();
      return fmt::format("`{}` could not be watched: {}", command[0], error_text(error));
    }
    requests_ = std::move(ours);
    answers_ = std::move(answers);
    return {};
  }

  /// One that takes the place of another prints to the same. @return 0, or an errno
  int open_outputs() {
    if (!destination_.of_servers || !outputs_.empty()) return 0;
    std::vector<OutputPipe> made;
    for (const OutputSink* sink : {&destination_.out, &destination_.error}) {
      if (sink == &destination_.error && destination_.are_one) continue;
      std::expected<OutputPipe, int> pipe = OutputPipe::open(*sink);
      if (!pipe) return pipe.error();
      made.push_back(std::move(*pipe));
    }
    outputs_ = std::move(made);
    return 0;
  }

  /// Waits for the end of the process, which is near since the connection has ended. @return how it has ended
  std::string reap() {
    const std::lock_guard lock(mutex_);
    pollfd watch{pid_fd_.get(), POLLIN, 0};
    if (!is_ended_) poll(&watch, 1, end_wait_ms);
    return end_text(end_process());
  }

  /// With mutex_ held. @return how it has ended, as waitpid says it
  int end_process() {
    kill(-pid_, SIGKILL);  // also what it has left running
    child_has_ended();
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    requests_ = FileDescriptor();
    answers_ = FileDescriptor();
    pid_fd_ = FileDescriptor();
    return status;
  }

  const ProgramOutputs& destination_;
  const Variables environment_;
  const int memory_fd_;
  FileDescriptor requests_;  // -1: no process. Of its own thread, as the next three
  FileDescriptor answers_, pid_fd_;
  std::vector<OutputPipe> outputs_;  // none: it prints to the run's own streams
  std::mutex mutex_;                 // guards pid_, is_ended_
  pid_t pid_ = 0;
  bool is_ended_ = false;
};

ServerPool::ServerPool(std::vector<std::string> command, unsigned limit, const ProgramOutputs& outputs,
                       std::vector<Variables> variables, int memory_fd, StartThread start_thread)
    : command_(std::move(command)),
      outputs_(outputs),
      variables_(std::move(variables)),
      memory_fd_(memory_fd),
      start_thread_(start_thread),
      servers_(std::max(limit, 1u)) {}

ServerPool::~ServerPool() {
  end();
  join();
}

void ServerPool::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
    for (const auto& server : servers_)
      if (server) server->changed.notify_one();
  }
  for (const auto& server : servers_)
    if (server) server->kill_for_good();
}

void ServerPool::join() {
  for (const auto& server : servers_)
    if (server && server->thread.joinable()) server->thread.join();
}

void ServerPool::ask(std::string request, RankWish wish, std::function<void(ServerAnswer)> done, GoOn go_on) {
  std::string error;
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    Server* const server = choose(wish, error);
    if (server != nullptr || error.empty()) {
      waiting_.push_back({std::move(request), std::move(done), std::move(go_on), server});
      if (server != nullptr) {
        server->idle_since = 0;
        server->changed.notify_one();
      }
      return;
    }
  }
  done({ServerStatus::not_started, {}, std::move(error)});
}

/// @return null: the next that has nothing to do will answer, or, with an error's text, nobody
ServerPool::Server* ServerPool::choose(RankWish wish, std::string& error) {
  const auto rank = static_cast<std::size_t>(wish.rank);
  const bool is_one = wish.rank >= 0 && rank < servers_.size();
  if (is_one && wish.is_needed) {
    Server* const server = started(wish.rank, error);
    if (server != nullptr) server->is_needed = true;
    return server;
  }
  if (is_one)
    if (Server* const server = started(wish.rank, error)) return server;
  if (Server* const idle = latest_idle(false)) return idle;
  const auto is_there = [](const auto& server) { return server != nullptr; };
  if (const auto absent = std::ranges::find_if_not(servers_, is_there); absent != servers_.end())
    if (Server* const server = started(static_cast<std::int32_t>(absent - servers_.begin()), error)) return server;
  // one too few: the others answer
  if (std::ranges::any_of(servers_, is_there)) error.clear();
  return latest_idle(true);
}

/// Of those that some request has needed, or of the others; null: none is idle.
ServerPool::Server* ServerPool::latest_idle(bool is_needed) {
  Server* latest = nullptr;
  for (const auto& server : servers_)
    if (server && server->is_needed == is_needed && server->idle_since > (latest ? latest->idle_since : 0))
      latest = server.get();
  return latest;
}

/// @return null, and an error's text: it could not be started
ServerPool::Server* ServerPool::started(std::int32_t rank, std::string& error) {
  std::unique_ptr<Server>& server = servers_[static_cast<std::size_t>(rank)];
  if (server) return server.get();
  auto made = std::make_unique<Server>(outputs_, rank, rank_environment(rank, variables_), memory_fd_);
  try {
    made->thread = start_thread_([this, &server = *made] { serve(server); });
  } catch (const std::system_error& problem) {
    error = fmt::format("no thread could be started: {}", error_text(problem.code().value()));
    return nullptr;
  }
  server = std::move(made);
  return server.get();
}

/// What is meant for this server first.
std::deque<ServerPool::Request>::iterator ServerPool::next_for(const Server& server) {
  const auto own = std::ranges::find(waiting_, &server, &Request::server);
  return own != waiting_.end() ? own : std::ranges::find(waiting_, nullptr, &Request::server);
}

void ServerPool::serve(Server& server) {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto next = next_for(server);
    while (!ending_ && next == waiting_.end()) {
      if (server.idle_since == 0) server.idle_since = ++turns_;
      server.changed.wait(lock);
      next = next_for(server);
    }
    if (ending_) break;
    server.idle_since = 0;
    const Request request = std::move(*next);
    waiting_.erase(next);
    lock.unlock();
    ServerAnswer answer = server.ask(command_, request.bytes);
    while (request.go_on && answer.status == ServerStatus::answered) {
      const std::optional<std::string> next = request.go_on(answer.bytes);
      if (!next) break;
      answer = server.ask(command_, *next);
    }
    answer.rank = server.rank;
    lock.lock();
    if (ending_) break;
    // before the answer is told: what follows on it finds its server idle
    if (next_for(server) == waiting_.end()) server.idle_since = ++turns_;
    lock.unlock();
    request.done(std::move(answer));
    lock.lock();
  }
  lock.unlock();
  server.stop();
}

}  // namespace raddle::vm
