#pragma once
// A driver in a process of its own.
#include <cstdint>
#include <expected>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gpu/cuda/driver.hpp"
#include "gpu/server/remote_stream.hpp"

namespace raddle::gpu {

/// Of one card: there is one context. What the driver does to its process does nothing to this one: then all functions
/// return `gone`, also those that wait. What is asked of a stream goes over a channel of the stream's own; so do not
/// ask for what it has to do, load or end while others use it.
class RemoteDriver final : public CudaDriver {
 public:
  /// @param program, answer_ns  as for ServerProcess::start()  @error  in words
  static std::expected<std::unique_ptr<RemoteDriver>, std::string> start(const ServerProgram& program,
                                                                         const std::string& library,
                                                                         std::uint64_t answer_ns);
  ~RemoteDriver() override;

#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) int name parameters const override;
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments) int name parameters const override;
#define RADDLE_CUDA_OWN(name, symbol, parameters)
#include "gpu/cuda/driver_functions.def"
  int load_module(void** module, const std::string& ptx) const override;
  int launch(void* function, unsigned blocks, unsigned threads_of_block, void* stream,
             std::span<const Parameter> parameters) const override;
  std::string text_of(int error) const override;
  bool begins_anew() const override { return true; }
  bool is_gone() const override { return process_->is_gone(); }
  void stop() const override { process_->stop("its process was ended"); }
  void wait_until_gone() const override { process_->wait_until_gone(); }

 private:
  explicit RemoteDriver(std::unique_ptr<ServerProcess> process) : process_(std::move(process)) {}
  template <typename... Arguments>
  int ask_words(Demand demand, Arguments... arguments) const;
  int ask_control(const Request& request, Reply& reply, std::span<const std::byte> payload = {},
                  std::span<const int> files = {}, std::string* text = nullptr) const;

  struct HostMemory {
    SharedMemory memory;
    std::uint64_t there = 0;  ///< its address in the other process
  };
  const std::unique_ptr<ServerProcess> process_;
  mutable std::mutex mutex_;  ///< guards the process's first channel, and what follows
  mutable std::list<RemoteStream> streams_;
  mutable std::map<void*, HostMemory> host_memory_;  ///< by address here
  mutable std::map<int, std::string> names_;         ///< of errors
};

}  // namespace raddle::gpu
