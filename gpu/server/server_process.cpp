#include "gpu/server/server_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "gpu/server/message.hpp"
#include "vm/value/environment.hpp"

namespace raddle::gpu {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int slice_ms = 100;
constexpr std::chrono::milliseconds unwanted_patience{1000}, end_patience{1000}, halted_patience{1500};

/// Of the driver's, in bytes: as much as all other code takes.
constexpr const char* most_kept = "CUDA_CACHE_MAXSIZE=67108864";

/// This process's, and where the driver keeps what it compiles; what the user has said of that stays.
std::vector<std::string> variables_for(const ServerProgram& program) {
  std::vector<std::string> variables;
  for (const char* const each : vm::environment()) variables.emplace_back(each);
  const bool is_users = std::getenv("CUDA_CACHE_PATH") != nullptr || std::getenv("CUDA_CACHE_DISABLE") != nullptr;
  if (!program.cubin_folder || is_users) return variables;
  if (const std::string folder = program.cubin_folder(); folder.empty()) {
    variables.emplace_back("CUDA_CACHE_DISABLE=1");
  } else {
    variables.push_back("CUDA_CACHE_PATH=" + folder);
    if (std::getenv("CUDA_CACHE_MAXSIZE") == nullptr) variables.emplace_back(most_kept);
  }
  return variables;
}

thread_local const std::function<bool()>* wanted = nullptr;
thread_local const std::function<std::uint64_t()>* patience = nullptr;

}  // namespace

WantedWhile::WantedWhile(std::function<bool()> is_wanted, std::function<std::uint64_t()> patience_ns)
    : is_wanted_(std::move(is_wanted)), patience_ns_(std::move(patience_ns)) {
  wanted = &is_wanted_;
  patience = &patience_ns_;
}
WantedWhile::~WantedWhile() {
  wanted = nullptr;
  patience = nullptr;
}
bool WantedWhile::is_wanted() { return wanted == nullptr || (*wanted)(); }
std::uint64_t WantedWhile::patience_ns() { return patience == nullptr ? any_time_ns : (*patience)(); }

std::expected<std::unique_ptr<ServerProcess>, std::string> ServerProcess::start(const ServerProgram& program,
                                                                                const std::string& library,
                                                                                std::uint64_t answer_ns) {
  const auto failed = [](int error) {
    return std::unexpected(fmt::format("the process for the driver can not be started: {}", vm::error_text(error)));
  };
  auto ends = Channel::make_pair();
  if (!ends) return failed(ends.error());
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions)) return failed(error);
  const std::unique_ptr<posix_spawn_file_actions_t, int (*)(posix_spawn_file_actions_t*)> end_of_actions(
      &actions, posix_spawn_file_actions_destroy);
  posix_spawn_file_actions_adddup2(&actions, ends->second.socket(), server_socket);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, server_socket + 1);
  std::string name = "raddle", word = server_word, of_library = library;
  char* arguments[] = {name.data(), word.data(), of_library.data(), nullptr};
  std::vector<std::string> variables = variables_for(program);
  std::vector<char*> given;
  for (std::string& variable : variables) given.push_back(variable.data());
  given.push_back(nullptr);
  pid_t id = 0;
  if (const int error = posix_spawn(&id, program.path.c_str(), &actions, nullptr, arguments, given.data()))
    return failed(error);
  return std::unique_ptr<ServerProcess>(new ServerProcess(id, std::move(ends->first), answer_ns));
}

/// It ends when it finds the channel closed, which it is a moment later.
ServerProcess::~ServerProcess() { reap(); }

bool ServerProcess::sends(const Channel& channel, std::span<const std::byte> bytes, std::span<const int> files,
                          const std::function<std::uint64_t()>& patience_ns) {
  while (!bytes.empty()) {
    const std::expected<std::size_t, int> sent = channel.send_some(bytes, files);
    if (!sent) return false;
    if (*sent == 0 && !is_ready(channel, POLLOUT, patience_ns)) return false;
    bytes = bytes.subspan(*sent);
    if (*sent != 0) files = {};
  }
  return true;
}

bool ServerProcess::awaits(const Channel& channel, const std::function<std::uint64_t()>& patience_ns) {
  return is_ready(channel, POLLIN, patience_ns);
}

/// Waits for the event of poll().
bool ServerProcess::is_ready(const Channel& channel, short event, const std::function<std::uint64_t()>& patience_ns) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point wanted_at = begin, went_at = begin;
  while (!is_stopped_) {
    pollfd asked{channel.socket(), event, 0};
    const int ready = poll(&asked, 1, slice_ms);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    const Clock::time_point now = Clock::now();
    if (WantedWhile::is_wanted()) wanted_at = now;
    if (!is_halted()) went_at = now;
    if (now - begin > std::chrono::nanoseconds(std::min(answer_ns_, patience_ns())))
      stop("its process did not answer, and was ended");
    if (now - went_at > halted_patience) stop("its process was halted, and was ended");
    if (now - wanted_at > unwanted_patience) stop("its process was ended, as nobody waited for it");
  }
  return false;
}

void ServerProcess::stop(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (why_.empty()) why_ = why;
  if (!is_reaped_) kill(id_, SIGKILL);
  is_stopped_ = true;
}

/// @return whether it has ended. Its number is another one's from then on.
bool ServerProcess::reap() {
  const std::lock_guard lock(mutex_);
  int status = 0;
  if (is_reaped_ || waitpid(id_, &status, WNOHANG) == 0) return is_reaped_;
  is_reaped_ = true;
  if (!why_.empty()) return true;
  if (WIFSIGNALED(status))
    why_ = fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  else
    why_ = fmt::format("its process has ended with code {}", WEXITSTATUS(status));
  return true;
}

/// A signal has stopped it, and none has had it go on since.
bool ServerProcess::is_halted() {
  const std::lock_guard lock(mutex_);
  siginfo_t about{};
  return !is_reaped_ && waitid(P_PID, static_cast<id_t>(id_), &about, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         about.si_pid != 0;
}

void ServerProcess::wait_until_gone() {
  const Clock::time_point begin = Clock::now();
  while (!reap() && Clock::now() - begin < end_patience) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::string ServerProcess::ended_text() {
  wait_until_gone();
  const std::lock_guard lock(mutex_);
  return why_.empty() ? "its process has closed its channel" : why_;
}

}  // namespace raddle::gpu
