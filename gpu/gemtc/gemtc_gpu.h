/* Code for GPUs of NVIDIA from the kernels of a program that uses gemtc.h: a super kernel with them in it. A source for
 * it has the kernels, as C++, and this:
 *
 *   #include "gpu/gemtc/gemtc_gpu.h"
 *   GEMTC_GPU_KERNELS(add, multiply)  // in the order of gemtc_options.kernels
 *
 * clang makes PTX of it (DIR: where this file's folder `gpu` lies, include/raddle of what is installed), which is given
 * to gemtc_setup() as a text:
 *
 *   clang++-19 --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx78
 *     -fconvergent-functions -std=c++20 -O2 -ffreestanding -nostdlib -nogpulib -fno-exceptions -fno-rtti
 *     -ffp-contract=off -IDIR -S kernels.cpp -o kernels.ptx
 *
 * There is no library on a GPU: what kernels call has to be in the source, too, and of headers there are those of the
 * compiler: <stdint.h>, not <cstdint>. */
#ifndef RADDLE_GEMTC_GPU_H
#define RADDLE_GEMTC_GPU_H

#include "gpu/superkernel/kernel.cpp"

namespace raddle::gpu {

/// @param words  GpuPlace::Words: parameters, where the status goes, threads twice
/// @return the first thread of these that has failed, or `end`
template <auto kernel>
inline uint64_t compute_threads(const int64_t* words, uint64_t first, uint64_t step, uint64_t end) {
  for (uint64_t thread = first; thread < end; thread += step) {
    const int32_t status = kernel(reinterpret_cast<void*>(words[0]), static_cast<int64_t>(thread), words[3]);
    if (status == 0) continue;
    superkernel::lower<superkernel::Access::least_lowered>(reinterpret_cast<uint64_t*>(words[1]),
                                                           thread << 32 | static_cast<uint32_t>(status));
    return thread;
  }
  return end;
}

template <auto... kernels>
inline uint64_t compute_task(uint64_t kernel, const int64_t* words, uint64_t first, uint64_t step, uint64_t end) {
  uint64_t made = end, number = 0;
  ((number++ == kernel ? void(made = compute_threads<kernels>(words, first, step, end)) : void()), ...);
  return made;
}

}  // namespace raddle::gpu

#define GEMTC_GPU_KERNELS(...)                                                                              \
  extern "C" uint64_t raddle_dispatch(uint64_t kernel, const int64_t* words, uint64_t first, uint64_t step, \
                                      uint64_t end) {                                                       \
    return raddle::gpu::compute_task<__VA_ARGS__>(kernel, words, first, step, end);                         \
  }

#endif
