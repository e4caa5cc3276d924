#include "gpu/server/driver_server.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/cuda/driver.hpp"
#include "gpu/server/channel.hpp"
#include "gpu/server/message.hpp"

namespace raddle::gpu {

namespace {

/// What one stream has done is done before the other process asks another one for something because of that. Sockets
/// see to that; this says so to ThreadSanitizer, which does not see it. Answers are one release sequence, and each
/// request acquires all of it.
std::atomic<unsigned> answers{0};

bool send(const Channel& channel, const Reply& reply) {
  answers.fetch_add(1, std::memory_order_acq_rel);
  return channel.send(bytes_of(reply));
}

bool receive(const Channel& channel, Request& request, std::span<vm::FileDescriptor> files = {}) {
  const bool is_there = channel.receive(bytes_to(request), files);
  static_cast<void>(answers.load(std::memory_order_acquire));
  return is_there;
}

/// Of one parameter of the driver's: what came for it, or what goes back.
template <typename Parameter>
class Argument {
 public:
  Argument(const Request& request, std::size_t& next) {
    if constexpr (!is_result<Parameter>) value_ = value_of<Parameter>(request.words[next++]);
  }
  Parameter get() {
    if constexpr (is_result<Parameter>)
      return &value_;
    else
      return value_;
  }
  void put(Reply& reply, std::size_t& next) const {
    if constexpr (is_result<Parameter>) reply.words[next++] = word_of(value_);
  }

 private:
  std::conditional_t<is_result<Parameter>, std::remove_pointer_t<Parameter>, Parameter> value_{};
};

template <typename... Parameters>
Reply call(const LoadedDriver& driver, int (LoadedDriver::*function)(Parameters...) const, const Request& request) {
  Reply reply;
  std::size_t next = 0;
  std::tuple<Argument<Parameters>...> arguments{Argument<Parameters>(request, next)...};
  next = 0;
  std::apply(
      [&](auto&... argument) {
        reply.error = (driver.*function)(argument.get()...);
        (argument.put(reply, next), ...);
      },
      arguments);
  return reply;
}

/// One stream, which a thread serves.
struct ServedStream {
  ServedStream(const LoadedDriver& driver, void* context, void* stream, Channel channel, SharedMemory staging)
      : driver(driver), context(context), stream(stream), channel(std::move(channel)), staging(std::move(staging)) {}

  void serve() {
    driver.set_context(context);
    driver.register_memory(staging.data(), staging.size());  // without, copies are slower
    Request request;
    while (receive(channel, request)) {
      std::vector<std::byte> payload(request.payload_bytes);
      if (!channel.receive(payload)) return;
      if (!answer(request, payload)) return;
    }
  }

  /// @return false: it is over
  bool answer(const Request& request, std::span<const std::byte> payload) {
    const auto& words = request.words;
    Reply reply;
    switch (request.demand) {
      case Demand::copy_in: return keep(driver.copy_in(words[0], staging.data() + words[1], words[2], stream));
      case Demand::copy_out: return keep(driver.copy_out(staging.data() + words[0], words[1], words[2], stream));
      case Demand::copy_within: return keep(driver.copy_within(words[0], words[1], words[2], stream));
      case Demand::set_bytes:
        return keep(driver.set_bytes(words[0], static_cast<unsigned char>(words[1]), words[2], stream));
      case Demand::free: return keep(driver.free(words[0], stream));
      case Demand::launch: return keep(launch(words, payload));
      case Demand::allocate: reply.error = driver.allocate(&reply.words[0], words[0], stream); break;
      case Demand::wait_for_stream: {
        const int error = driver.wait_for_stream(stream);
        reply.error = error_.exchange(0);
        if (reply.error == 0) reply.error = error;
        break;
      }
      case Demand::destroy_stream:
        reply.error = driver.destroy_stream(stream);
        send(channel, reply);
        return false;
      default: return false;
    }
    return send(channel, reply);
  }

  /// Also of what nobody has waited for.
  int ask() const {
    const int error = error_;
    return error != 0 ? error : driver.ask_stream(stream);
  }

  const LoadedDriver& driver;
  void* const context;
  void* const stream;
  const Channel channel;
  const SharedMemory staging;

 private:
  bool keep(int error) {
    int none = 0;
    if (error != 0) error_.compare_exchange_strong(none, error);
    return true;
  }
  int launch(const std::uint64_t* words, std::span<const std::byte> payload) const {
    std::vector<CudaDriver::Parameter> parameters;
    while (!payload.empty()) {
      std::uint64_t size = 0;
      std::memcpy(&size, payload.data(), sizeof size);
      parameters.push_back(payload.subspan(sizeof size, size));
      payload = payload.subspan(sizeof size + size);
    }
    return driver.launch(value_of<void*>(words[0]), static_cast<unsigned>(words[1]), static_cast<unsigned>(words[2]),
                         stream, parameters);
  }

  /// The first one of what was not waited for. Written by the thread that serves it, read by the one that asks whether
  /// a kernel that stays is well: seq_cst, nothing else depends on it.
  std::atomic<int> error_{0};
};

class DriverServer {
 public:
  DriverServer(const LoadedDriver& driver, Channel control) : driver_(driver), control_(std::move(control)) {}

  void serve() {
    Request request;
    std::array<vm::FileDescriptor, 2> files;
    while (receive(control_, request, files)) {
      std::string payload(request.payload_bytes, 0);
      if (!control_.receive(std::as_writable_bytes(std::span(payload)))) return;
      std::string text;
      Reply reply = answer(request, payload, files, text);
      reply.payload_bytes = static_cast<std::uint32_t>(text.size());
      if (!send(control_, reply) || !control_.send(std::as_bytes(std::span(text)))) return;
    }
  }

 private:
  Reply answer(const Request& request, const std::string& payload, std::span<vm::FileDescriptor> files,
               std::string& text) {
    const auto& words = request.words;
    Reply reply;
    switch (request.demand) {
#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) \
  case Demand::name:                                           \
    reply = call(driver_, &LoadedDriver::name, request);       \
    break;
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments)
#define RADDLE_CUDA_OWN(name, symbol, parameters)
#include "gpu/cuda/driver_functions.def"
      case Demand::error_name: {
        const char* name = nullptr;
        reply.error = driver_.error_name(value_of<int>(words[0]), &name);
        text = name != nullptr ? name : "";
        break;
      }
      case Demand::device_name: {
        std::array<char, 256> name{};
        reply.error = driver_.device_name(name.data(), static_cast<int>(name.size()), value_of<int>(words[0]));
        text = name.data();
        break;
      }
      case Demand::load_module: {
        void* module = nullptr;
        reply.error = driver_.load_module(&module, payload);
        reply.words[0] = word_of(module);
        break;
      }
      case Demand::module_function: {
        void* function = nullptr;
        reply.error = driver_.module_function(&function, value_of<void*>(words[0]), payload.c_str());
        reply.words[0] = word_of(function);
        break;
      }
      case Demand::create_stream: reply = create_stream(static_cast<unsigned>(words[0]), files); break;
      case Demand::ask_stream: {
        const auto stream = streams_.find(words[0]);
        reply.error = stream != streams_.end() ? stream->second->ask() : invalid_handle;
        break;
      }
      case Demand::host_allocate: reply = share(words[0], std::move(files[0])); break;
      case Demand::host_address:
        reply.error = driver_.host_address(&reply.words[0], value_of<void*>(words[0]), static_cast<unsigned>(words[1]));
        break;
      default: reply.error = invalid_handle;
    }
    if (request.demand == Demand::retain_context && reply.error == 0) {
      context_ = value_of<void*>(reply.words[0]);
      driver_.set_context(context_);
    }
    return reply;
  }

  Reply create_stream(unsigned flags, std::span<vm::FileDescriptor> files) {
    auto staging = SharedMemory::map(std::move(files[1]), staging_bytes);
    if (!staging) return {.error = out_of_memory};
    void* stream = nullptr;
    if (const int error = driver_.create_stream(&stream, flags)) return {.error = error};
    ServedStream& served =
        all_streams_.emplace_back(driver_, context_, stream, Channel(std::move(files[0])), std::move(*staging));
    streams_[word_of(stream)] = &served;
    std::thread([&served] { served.serve(); }).detach();
    return {.words = {word_of(stream)}};
  }

  Reply share(std::size_t bytes, vm::FileDescriptor file) {
    auto memory = SharedMemory::map(std::move(file), bytes);
    if (!memory) return {.error = out_of_memory};
    if (const int error = driver_.register_memory(memory->data(), bytes)) return {.error = error};
    shared_.push_back(std::move(*memory));
    return {.words = {word_of(shared_.back().data())}};
  }

  static constexpr int out_of_memory = 2, invalid_handle = 400;  // CUDA_ERROR_..
  const LoadedDriver& driver_;
  const Channel control_;
  void* context_ = nullptr;
  /// Also those that have ended: memory that is registered stays where it is. Were something else mapped there, the
  /// driver would copy to what it has pinned; to unregister it might wait for a kernel that stays.
  std::deque<ServedStream> all_streams_;
  std::vector<SharedMemory> shared_;                ///< likewise
  std::map<std::uint64_t, ServedStream*> streams_;  ///< by the driver's handle
};

}  // namespace

/// Interrupts of the terminal are meant for the other process, which says what comes of them. Threads are left where
/// they are: the end of the process ends them and what the card has under way, as soon as nobody wants it any more.
int serve_driver(const char* library) {
  std::thread([] {  // also while the driver does not come back
    pollfd hangup{server_socket, 0, 0};
    while (poll(&hangup, 1, -1) <= 0) continue;
    _exit(0);
  })
      .detach();
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP, SIGHUP}) signal(number, SIG_IGN);
  const auto driver = LoadedDriver::load(library);
  if (!driver) _exit(1);
  DriverServer server(**driver, Channel(vm::FileDescriptor(server_socket)));
  server.serve();
  _exit(0);
}

}  // namespace raddle::gpu
