// Which version of what is compiled for each processor (Note [for each processor] in vector.hpp) runs here.
#pragma once

namespace raddle::vm::math {

/// Levels of x86-64: v4 has AVX-512 with the conversion of ints, which AVX-512F lacks, v3 has AVX2 and fma. Elsewhere,
/// and with the sanitizers of addresses and threads, there is the baseline only.
enum class Processor {
#define RADDLE_FOR_PROCESSOR(name, is_possible) name,
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR
};

/// All of them, the baseline first.
inline constexpr Processor processors[] = {
#define RADDLE_FOR_PROCESSOR(name, is_possible) Processor::name,
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR
};

/// Whether this processor can run what is compiled for that one. From any thread.
inline bool can_run(Processor processor) {
#define RADDLE_FOR_PROCESSOR(name, is_possible) \
  if (processor == Processor::name) return is_possible;
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR
  return false;
}

/// The one that can do most of those whose versions can run here.
inline Processor this_processor() {
  Processor most = Processor::baseline;
  for (const Processor processor : processors)
    if (can_run(processor)) most = processor;
  return most;
}

}  // namespace raddle::vm::math
