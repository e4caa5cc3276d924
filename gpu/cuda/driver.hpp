#pragma once
// The CUDA driver, as far as it is used, declared by ourselves: no header of CUDA, nothing linked.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

namespace raddle::gpu {

/// Attributes of devices and of functions, by the driver's numbers.
enum CudaAttribute : int {
  cuda_multiprocessor_count = 16,
  cuda_threads_of_multiprocessor = 39,
  cuda_compute_major = 75,
  cuda_compute_minor = 76,
  cuda_memory_pools = 115,
  cuda_function_threads_of_block = 0,
  cuda_function_registers = 4,
};

/// All functions return 0 or an error's number. Threads: any, for the driver; what concerns a context needs
/// set_context() on the thread before.
struct CudaDriver {
  static constexpr int least_version = 11080;  ///< CUDA 11.8, for PTX ISA 7.8

#define RADDLE_CUDA_FUNCTION(name, symbol, parameters) int(*name) parameters = nullptr;
#include "gpu/cuda/driver_functions.def"

  /// Loads the library, which is never unloaded, and looks for the functions; nothing is begun.
  /// @param library  a file, or a name that is looked for
  /// @error  no library, or one without a function, in words
  static std::expected<CudaDriver, std::string> load(const std::string& library);
  /// Begins with the driver, if it is new enough. Some 0.1 s. @return how many GPUs there are
  /// @error  in words
  std::expected<unsigned, std::string> begin() const;
  /// CUDA_ERROR_OUT_OF_MEMORY and the like.
  std::string text_of(int error) const;
};

}  // namespace raddle::gpu
