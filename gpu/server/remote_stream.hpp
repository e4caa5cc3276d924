#pragma once
// A stream in the process that has the driver.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu/server/channel.hpp"
#include "gpu/server/message.hpp"
#include "gpu/server/server_process.hpp"

namespace raddle::gpu {

/// Asks, and waits for the answer. @return its error; CudaDriver::gone
/// @param patience_ns  for the answer  @param payload  goes behind the request  @param text  gets what comes behind the
/// reply; null: nothing does
int ask(ServerProcess& process, const Channel& channel, std::uint64_t patience_ns, Request request, Reply& reply,
        std::span<const std::byte> payload = {}, std::span<const int> files = {}, std::string* text = nullptr);

/// What is asked of it waits here until an answer is needed, and goes there as one message. What it copies passes
/// through memory of both processes: small pieces wait there, of large ones one half is filled while the other one is
/// copied. Of one thread at a time.
class RemoteStream {
 public:
  RemoteStream(ServerProcess& process, Channel channel, SharedMemory staging)
      : process_(process), channel_(std::move(channel)), staging_(std::move(staging)) {}

  std::uint64_t number = 0;  ///< the driver's handle, there

  /// Is done in its order; an error is wait()'s.
  void post(const Request& request, std::span<const std::byte> payload = {});
  /// What was posted goes there now. @return an error's number
  int send();
  /// Does all that was posted, then this, and waits for it.
  int ask(const Request& request, Reply& reply);
  int copy_in(std::uint64_t to, const std::byte* from, std::size_t bytes);
  int copy_out(std::byte* to, std::uint64_t from, std::size_t bytes);
  int wait();

 private:
  struct Incoming {
    std::byte* to = nullptr;
    std::size_t place = 0, bytes = 0;
  };
  int take_reply();
  void ask_for_half(const Request& request);
  void make_room(std::size_t bytes);
  int keep(int error) { return error_ = error_ != 0 ? error_ : error; }

  ServerProcess& process_;
  const Channel channel_;
  const SharedMemory staging_;
  std::vector<std::byte> posted_;
  std::vector<Incoming> incoming_;  ///< is to be taken from the staging memory at the next wait()
  std::size_t used_ = 0;            ///< of the staging memory
  int error_ = 0;                   ///< the first one since the last wait()
};

}  // namespace raddle::gpu
