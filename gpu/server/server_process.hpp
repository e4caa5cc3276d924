#pragma once
// The process that has a driver, as seen by the one that has started it.
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "gpu/server/channel.hpp"

namespace raddle::gpu {

/// For what nobody knows how long it takes.
inline constexpr std::uint64_t any_time_ns = ~std::uint64_t{0};

/// As long as it lives, what this thread asks of a driver's process is wanted only while `is_wanted` says so: if it is
/// not, and has no answer a second later, the process is ended.
class WantedWhile {
 public:
  /// @param patience_ns  how long a stream may take for what this thread has it do, as it is known meanwhile
  WantedWhile(std::function<bool()> is_wanted, std::function<std::uint64_t()> patience_ns);
  WantedWhile(const WantedWhile&) = delete;
  WantedWhile& operator=(const WantedWhile&) = delete;
  ~WantedWhile();
  static bool is_wanted();
  static std::uint64_t patience_ns();

 private:
  std::function<bool()> is_wanted_;
  std::function<std::uint64_t()> patience_ns_;
};

/// What has drivers in processes of its own.
struct ServerProgram {
  std::string path{};  ///< its main() calls serve_driver() for server_word
  /// Where drivers keep what they compile, asked when a process is started; "": nowhere. None: that is the drivers'
  /// affair.
  std::function<std::string()> cubin_folder{};
};

/// Threads: any.
class ServerProcess {
 public:
  /// @param program    is started with server_word and the library
  /// @param answer_ns  it is ended if it has no answer for so long, whatever it was asked
  /// @error  in words
  static std::expected<std::unique_ptr<ServerProcess>, std::string> start(const ServerProgram& program,
                                                                          const std::string& library,
                                                                          std::uint64_t answer_ns);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  ///< does not wait for its end

  const Channel& channel() const { return channel_; }
  pid_t id() const { return id_; }
  /// Sends all of it. @param files  as for Channel::send_some()  @param patience_ns  for what it takes, asked again and
  /// again  @return false: it is gone, or was ended as it does not take it
  bool sends(const Channel& channel, std::span<const std::byte> bytes, std::span<const int> files,
             const std::function<std::uint64_t()>& patience_ns);
  /// Waits until there is something to be received. @return false: it is gone, or was ended as it does not answer
  bool awaits(const Channel& channel, const std::function<std::uint64_t()>& patience_ns);
  /// It was found to be gone by who has asked it something.
  void note_gone() { is_gone_ = true; }
  bool is_gone() const { return is_gone_ || is_stopped_; }
  /// As no answer of it is waited for any more. @param why  what ended_text() says, if nothing else has ended it before
  void stop(const std::string& why);
  /// Once it is gone or was stopped: waits until it is no process any more, or a second.
  void wait_until_gone();
  /// How it has ended, in words.
  std::string ended_text();

 private:
  ServerProcess(pid_t id, Channel channel, std::uint64_t answer_ns)
      : id_(id), channel_(std::move(channel)), answer_ns_(answer_ns) {}
  bool is_ready(const Channel& channel, short event, const std::function<std::uint64_t()>& patience_ns);
  bool reap();
  bool is_halted();

  const pid_t id_;
  const Channel channel_;
  const std::uint64_t answer_ns_;
  std::atomic<bool> is_stopped_{false};  ///< seq_cst: who waits for an answer sees it within a tenth of a second
  std::atomic<bool> is_gone_{false};     ///< seq_cst: read by who has had an error since
  std::mutex mutex_;                     ///< guards what follows
  std::string why_;
  bool is_reaped_ = false;
};

}  // namespace raddle::gpu
