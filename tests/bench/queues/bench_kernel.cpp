// For queues.cpp: the super kernel with points that cost nothing, write a word, or take some time.
#include "gpu/superkernel/kernel.cpp"

/// 0: nothing. 1: writes its number to where words[3] says. 2: the first lane waits for words[4] ns.
extern "C" uint64_t raddle_dispatch(uint64_t function, const int64_t* words, uint64_t first, uint64_t step,
                                    uint64_t end) {
  if (function == 1) {
    auto* const to = reinterpret_cast<uint64_t*>(words[3]);
    for (uint64_t number = first; number < end; number += step) to[number] = number;
  }
  if (function == 2 && first == 0) {
    const uint64_t begin = superkernel::now_ns(), time = static_cast<uint64_t>(words[4]);
    while (superkernel::now_ns() - begin < time) {
    }
  }
  return end;
}

/// A launch that does nothing.
extern "C" __attribute__((nvptx_kernel)) void raddle_queue_bench_null() {}
