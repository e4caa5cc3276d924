#pragma once
// Identities of streams of random numbers, the same in every schedule.
#include <cstdint>

namespace raddle::vm {

/// Mixes what an instruction is known by (Program::streams), or the number of an iteration, into a stream identity.
inline std::uint64_t mix_stream(std::uint64_t stream, std::uint64_t with) {
  std::uint64_t mixed = (stream ^ (with + 0x9E3779B97F4A7C15ull)) * 0xBF58476D1CE4E5B9ull;
  return mixed ^ mixed >> 29;
}

}  // namespace raddle::vm
