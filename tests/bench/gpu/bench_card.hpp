#pragma once
// A GPU of this machine, with what all measurements need of it.
#include <memory>

#include "gpu/cuda/driver.hpp"

namespace raddle::gpu::bench {

/// Its context is that of the thread which has made it. Nothing is given back: the process ends with it.
class BenchCard {
 public:
  /// The first GPU. Without one the process ends: with 0, after a row that says so, if there is no driver.
  BenchCard();

  const CudaDriver& driver() const { return *driver_; }
  void* context() const { return context_; }
  void* stream() const { return stream_; }
  unsigned multiprocessors() const { return static_cast<unsigned>(attribute(cuda_multiprocessor_count)); }
  int attribute(int number) const;
  unsigned cards() const { return cards_; }
  int device() const { return device_; }
  double context_ms() const { return context_ms_; }

  /// @param what  for a row that says what has failed, if `error` is not 0: the process ends then
  void check(int error, const char* what) const;
  /// A kernel of bench_kernel.cpp.
  void* kernel(const char* name) const;

 private:
  std::unique_ptr<LoadedDriver> driver_;
  unsigned cards_ = 0;
  int device_ = 0;
  void *context_ = nullptr, *stream_ = nullptr;
  double context_ms_ = 0;
  mutable void* module_ = nullptr;  ///< once a kernel is asked for
};

}  // namespace raddle::gpu::bench
