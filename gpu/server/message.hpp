#pragma once
// What a process that computes and the one that has its driver say to each other. Both are the same program.
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace raddle::gpu {

enum class Demand : std::uint32_t {
#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) name,
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments) name,
#define RADDLE_CUDA_OWN(name, symbol, parameters)
#include "gpu/cuda/driver_functions.def"
  load_module,
  launch,
};

/// `payload_bytes` follow. Words are the arguments in their order, without those that are results.
struct Request {
  Demand demand{};
  std::uint32_t payload_bytes = 0;
  std::uint64_t words[6] = {};
};

/// `payload_bytes` follow. Words are the results in their order.
struct Reply {
  std::int32_t error = 0;
  std::uint32_t payload_bytes = 0;
  std::uint64_t words[2] = {};
};

/// A parameter of the driver's that is a result.
template <typename Parameter>
constexpr bool is_result = std::is_pointer_v<Parameter> && !std::is_same_v<Parameter, void*>;

template <typename Value>
std::uint64_t word_of(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return reinterpret_cast<std::uint64_t>(value);
  else
    return static_cast<std::uint64_t>(value);
}

template <typename Value>
Value value_of(std::uint64_t word) {
  if constexpr (std::is_pointer_v<Value>)
    return reinterpret_cast<Value>(word);
  else
    return static_cast<Value>(word);
}

/// Of a stream, in memory of both: two halves, so that one can be filled while the other one is copied.
constexpr std::size_t half_bytes = std::size_t{1} << 20;
constexpr std::size_t staging_bytes = 2 * half_bytes;

/// The word behind which the driver's library stands.
constexpr const char* server_word = "-gpu-server";
constexpr int server_socket = 3;  ///< where the server finds its first channel

}  // namespace raddle::gpu
