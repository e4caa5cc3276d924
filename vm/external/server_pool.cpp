#include "vm/external/server_pool.hpp"

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
#include <thread>

#include "vm/external/redirects.hpp"
#include "vm/external/start_child.hpp"

namespace raddle::vm {
namespace {

constexpr int end_wait_ms = 1000;                                 // from the end of the connection to the process's own
constexpr std::uint64_t longest_answer = std::uint64_t{1} << 40;  // a length beyond is no length

bool send_all(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int fd, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t received = recv(fd, bytes, count, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    bytes += received;
    count -= static_cast<std::size_t>(received);
  }
  return true;
}

std::optional<std::string> exchange(int fd, const std::string& request) {
  std::uint64_t length = request.size();
  char header[sizeof length];
  std::memcpy(header, &length, sizeof length);
  if (!send_all(fd, header, sizeof header) || !send_all(fd, request.data(), request.size())) return std::nullopt;
  if (!receive_all(fd, header, sizeof header)) return std::nullopt;
  std::memcpy(&length, header, sizeof length);
  if (length > longest_answer) return std::nullopt;
  std::string answer(length, '\0');
  if (!receive_all(fd, answer.data(), answer.size())) return std::nullopt;
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
  ServerAnswer ask(const std::vector<std::string>& command, const std::string& request) {
    if (channel_.get() < 0) {
      if (std::string error = start(command); !error.empty()) return {{}, std::move(error)};
    }
    if (auto answer = exchange(channel_.get(), request)) return {std::move(*answer), {}};
    return {{}, reap()};
  }

  /// Any thread: kills the process and lets no other start.
  void kill_for_good() {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    if (pid_ > 0) kill(-pid_, SIGKILL);
  }

  /// By its own thread, at its end.
  void stop() {
    if (channel_.get() < 0) return;
    channel_ = FileDescriptor();
    reap();
  }

  std::thread thread;

 private:
  std::string start(const std::vector<std::string>& command) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return error_text(errno);
    FileDescriptor ours(ends[0]);
    const FileDescriptor theirs(ends[1]);
    const std::lock_guard lock(mutex_);
    if (is_ended_) return "the run has ended";
    const auto pid = start_child({.words = command, .environment = {}, .stdin_fd = theirs.get()});
    if (!pid) return fmt::format("`{}` could not be started: {}", command[0], error_text(pid.error()));
    pid_ = *pid;
    channel_ = std::move(ours);
    return {};
  }

  /// Waits for the end of the process, which is near since the connection has ended. @return how it has ended
  std::string reap() {
    const std::lock_guard lock(mutex_);
    const FileDescriptor pid_fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    pollfd watch{pid_fd.get(), POLLIN, 0};
    if (!is_ended_) poll(&watch, 1, end_wait_ms);
    kill(-pid_, SIGKILL);  // also what it has left running
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    channel_ = FileDescriptor();
    return end_text(status);
  }

  FileDescriptor channel_;  // -1: no process. Of its own thread
  std::mutex mutex_;        // guards pid_, is_ended_
  pid_t pid_ = 0;
  bool is_ended_ = false;
};

ServerPool::ServerPool(std::vector<std::string> command, unsigned limit)
    : command_(std::move(command)), limit_(std::max(limit, 1u)) {}

ServerPool::~ServerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (const auto& server : servers_) server->kill_for_good();
  for (const auto& server : servers_) server->thread.join();
}

void ServerPool::ask(std::string request, std::function<void(ServerAnswer)> done) {
  const std::lock_guard lock(mutex_);
  if (ending_) return;
  waiting_.push_back({std::move(request), std::move(done)});
  if (waiting_.size() > idle_ && servers_.size() < limit_) {
    Server& server = *servers_.emplace_back(std::make_unique<Server>());
    server.thread = std::thread([this, &server] { serve(server); });
  }
  changed_.notify_one();
}

void ServerPool::serve(Server& server) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    --idle_;
    if (ending_) break;
    const Request request = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    ServerAnswer answer = server.ask(command_, request.bytes);
    lock.lock();
    if (ending_) break;
    lock.unlock();
    request.done(std::move(answer));
    lock.lock();
  }
  lock.unlock();
  server.stop();
}

}  // namespace raddle::vm
