// For GPUs: the super kernel with points that cost nothing, write a word, or take some time, and kernels that are
// launched.
#include "gpu/superkernel/kernel.cpp"
#include "tests/bench/gpu/growth.hpp"

/// 0: nothing. 1: writes its number to where words[3] says. 2: the first of each 32 points takes words[4] ns. 3: writes
/// there what growth_of_point() has.
extern "C" uint64_t raddle_dispatch(uint64_t function, const int64_t* words, uint64_t first, uint64_t step,
                                    uint64_t end) {
  if (function == 1) {
    auto* const to = reinterpret_cast<uint64_t*>(words[3]);
    for (uint64_t number = first; number < end; number += step) to[number] = number;
  }
  if (function == 3) {
    auto* const to = reinterpret_cast<double*>(words[3]);
    for (uint64_t number = first; number < end; number += step)
      to[number] = raddle::gpu::bench::growth_of_point(number);
  }
  if (function == 2 && first % superkernel::lane_count == 0) {
    const uint64_t begin = superkernel::now_ns(), time = static_cast<uint64_t>(words[4]);
    while (superkernel::now_ns() - begin < time) {
    }
  }
  return end;
}

/// A launch that does nothing.
extern "C" __attribute__((nvptx_kernel)) void raddle_bench_null() {}

/// Answers each question, 1 to `last`, with itself. One thread.
extern "C" __attribute__((nvptx_kernel)) void raddle_bench_echo(const uint64_t* question, uint64_t* answer,
                                                                uint64_t last) {
  using superkernel::Access;
  for (uint64_t next = 1; next <= last; ++next) {
    while (superkernel::load<Access::entry_read>(question) != next) {
    }
    superkernel::store<Access::entry_written>(answer, next);
  }
}
