#include "gpu/server/remote_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace raddle::gpu {

namespace {

constexpr int out_of_memory = 2;  ///< CUDA_ERROR_OUT_OF_MEMORY

RemoteStream& stream_of(void* stream) { return *static_cast<RemoteStream*>(stream); }

template <typename Argument>
void add_word(Request& request, std::size_t& next, Argument argument) {
  if constexpr (!is_result<Argument>) request.words[next++] = word_of(argument);
}

template <typename Argument>
void take_word(const Reply& reply, std::size_t& next, Argument argument) {
  if constexpr (is_result<Argument>) *argument = value_of<std::remove_pointer_t<Argument>>(reply.words[next++]);
}

/// What the driver takes for each of these is known, however busy the card is; another process may begin slowly.
std::uint64_t patience_with(const Request& request, std::size_t payload_bytes) {
  constexpr std::uint64_t second = 1'000'000'000, of_byte = 100'000;  // a byte of PTX takes it some 5 us
  switch (request.demand) {
    case Demand::init:
    case Demand::retain_context: return 10 * second;
    case Demand::load_module: return 10 * second + of_byte * payload_bytes;
    case Demand::unload_module:
    case Demand::host_allocate: return any_time_ns;  // they wait for kernels
    default: return 2 * second;
  }
}

std::span<const std::byte> bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::expected<std::unique_ptr<RemoteDriver>, std::string> RemoteDriver::start(const ServerProgram& program,
                                                                              const std::string& library,
                                                                              std::uint64_t answer_ns) {
  auto process = ServerProcess::start(program, library, answer_ns);
  if (!process) return std::unexpected(process.error());
  return std::unique_ptr<RemoteDriver>(new RemoteDriver(std::move(*process)));
}

RemoteDriver::~RemoteDriver() = default;

int RemoteDriver::ask_control(const Request& request, Reply& reply, std::span<const std::byte> payload,
                              std::span<const int> files, std::string* text) const {
  const std::lock_guard lock(mutex_);
  return ask(*process_, process_->channel(), patience_with(request, payload.size()), request, reply, payload, files,
             text);
}

template <typename... Arguments>
int RemoteDriver::ask_words(Demand demand, Arguments... arguments) const {
  Request request{.demand = demand};
  Reply reply;
  std::size_t next = 0;
  (add_word(request, next, arguments), ...);
  const int error = ask_control(request, reply);
  next = 0;
  (take_word(reply, next, arguments), ...);
  return error;
}

#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) \
  int RemoteDriver::name parameters const { return ask_words RADDLE_WITH_DEMAND(name, arguments); }
#define RADDLE_WITH_DEMAND(name, arguments) (Demand::name, RADDLE_WITHOUT_BRACKETS arguments)
#define RADDLE_WITHOUT_BRACKETS(...) __VA_ARGS__
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments)
#define RADDLE_CUDA_OWN(name, symbol, parameters)
#include "gpu/cuda/driver_functions.def"
#undef RADDLE_WITH_DEMAND
#undef RADDLE_WITHOUT_BRACKETS

/// The other process has one context, and its threads have it.
int RemoteDriver::set_context(void*) const { return 0; }

int RemoteDriver::error_name(int error, const char** name) const {
  Reply reply;
  std::string text;
  const int error_of_asking =
      ask_control({.demand = Demand::error_name, .words = {word_of(error)}}, reply, {}, {}, &text);
  const std::lock_guard lock(mutex_);
  *name = names_.try_emplace(error, text).first->second.c_str();
  return error_of_asking;
}

std::string RemoteDriver::text_of(int error) const {
  return error == gone ? process_->ended_text() : CudaDriver::text_of(error);
}

int RemoteDriver::device_name(char* name, int size, int device) const {
  Reply reply;
  std::string text;
  const int error = ask_control({.demand = Demand::device_name, .words = {word_of(device)}}, reply, {}, {}, &text);
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  name[text.copy(name, length)] = 0;
  return error;
}

int RemoteDriver::load_module(void** module, const std::string& ptx) const {
  Reply reply;
  const int error = ask_control({.demand = Demand::load_module}, reply, bytes_of_text(ptx));
  *module = value_of<void*>(reply.words[0]);
  return error;
}

int RemoteDriver::module_function(void** function, void* module, const char* name) const {
  Reply reply;
  const int error = ask_control({.demand = Demand::module_function, .words = {word_of(module)}}, reply,
                                std::as_bytes(std::span(name, std::strlen(name))));
  *function = value_of<void*>(reply.words[0]);
  return error;
}

int RemoteDriver::create_stream(void** stream, unsigned flags) const {
  auto ends = Channel::make_pair();
  auto staging = SharedMemory::make(staging_bytes);
  if (!ends || !staging) return out_of_memory;
  Reply reply;
  const int files[] = {ends->second.socket(), staging->file()};
  const int error = ask_control({.demand = Demand::create_stream, .words = {flags}}, reply, {}, files);
  if (error != 0) return error;
  const std::lock_guard lock(mutex_);
  RemoteStream& made = streams_.emplace_back(*process_, std::move(ends->first), std::move(*staging));
  made.number = reply.words[0];
  *stream = &made;
  return 0;
}

int RemoteDriver::destroy_stream(void* stream) const {
  Reply reply;
  const int error = stream_of(stream).ask({.demand = Demand::destroy_stream}, reply);
  const std::lock_guard lock(mutex_);
  streams_.remove_if([stream](const RemoteStream& each) { return &each == stream; });
  return error;
}

int RemoteDriver::wait_for_stream(void* stream) const { return stream_of(stream).wait(); }

int RemoteDriver::ask_stream(void* stream) const {
  Reply reply;
  return ask_control({.demand = Demand::ask_stream, .words = {stream_of(stream).number}}, reply);
}

int RemoteDriver::allocate(std::uint64_t* address, std::size_t bytes, void* stream) const {
  Reply reply;
  const int error = stream_of(stream).ask({.demand = Demand::allocate, .words = {bytes}}, reply);
  *address = reply.words[0];
  return error;
}

int RemoteDriver::free(std::uint64_t address, void* stream) const {
  stream_of(stream).post({.demand = Demand::free, .words = {address}});
  return 0;
}

int RemoteDriver::copy_in(std::uint64_t to, const void* from, std::size_t bytes, void* stream) const {
  return stream_of(stream).copy_in(to, static_cast<const std::byte*>(from), bytes);
}

int RemoteDriver::copy_out(void* to, std::uint64_t from, std::size_t bytes, void* stream) const {
  return stream_of(stream).copy_out(static_cast<std::byte*>(to), from, bytes);
}

int RemoteDriver::copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) const {
  stream_of(stream).post({.demand = Demand::copy_within, .words = {to, from, bytes}});
  return 0;
}

int RemoteDriver::set_bytes(std::uint64_t address, unsigned char byte, std::size_t count, void* stream) const {
  stream_of(stream).post({.demand = Demand::set_bytes, .words = {address, byte, count}});
  return 0;
}

int RemoteDriver::launch(void* function, unsigned blocks, unsigned threads_of_block, void* stream,
                         std::span<const Parameter> parameters) const {
  std::vector<std::byte> payload;
  const auto add = [&payload](std::span<const std::byte> bytes) {
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  };
  for (const Parameter& parameter : parameters) {
    const std::uint64_t size = parameter.size();
    add(bytes_of(size));
    add(parameter);
  }
  stream_of(stream).post({.demand = Demand::launch, .words = {word_of(function), blocks, threads_of_block}}, payload);
  return stream_of(stream).send();
}

int RemoteDriver::host_allocate(void** memory, std::size_t bytes, unsigned) const {
  auto made = SharedMemory::make(bytes);
  if (!made) return out_of_memory;
  Reply reply;
  const int files[] = {made->file()};
  const int error = ask_control({.demand = Demand::host_allocate, .words = {bytes}}, reply, {}, files);
  if (error != 0) return error;
  *memory = made->data();
  const std::lock_guard lock(mutex_);
  host_memory_[*memory] = {std::move(*made), reply.words[0]};
  return 0;
}

/// Of the other process it stays, as it was registered there.
int RemoteDriver::host_free(void* memory) const {
  const std::lock_guard lock(mutex_);
  host_memory_.erase(memory);
  return 0;
}

int RemoteDriver::host_address(std::uint64_t* address, void* memory, unsigned flags) const {
  std::uint64_t there = 0;
  {
    const std::lock_guard lock(mutex_);
    there = host_memory_.at(memory).there;
  }
  Reply reply;
  const int error = ask_control({.demand = Demand::host_address, .words = {there, flags}}, reply);
  *address = reply.words[0];
  return error;
}

}  // namespace raddle::gpu
