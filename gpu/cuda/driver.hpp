#pragma once
// The CUDA driver, as far as it is used, declared by ourselves: no header of CUDA, nothing linked.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
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
class CudaDriver {
 public:
  static constexpr int least_version = 11080;  ///< CUDA 11.8, for PTX ISA 7.8
  static constexpr int gone = -3;              ///< the driver's process has ended; no error of the driver's

  CudaDriver() = default;
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;
  virtual ~CudaDriver() = default;

#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) virtual int name parameters const = 0;
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments) virtual int name parameters const = 0;
#define RADDLE_CUDA_OWN(name, symbol, parameters)
#include "gpu/cuda/driver_functions.def"
  /// @param ptx  ended by 0
  virtual int load_module(void** module, const std::string& ptx) const = 0;
  using Parameter = std::span<const std::byte>;
  virtual int launch(void* function, unsigned blocks, unsigned threads_of_block, void* stream,
                     std::span<const Parameter> parameters) const = 0;

  /// Begins with the driver, if it is new enough. Some 0.1 s. @return how many GPUs there are
  /// @error  in words
  std::expected<unsigned, std::string> begin() const;
  /// CUDA_ERROR_OUT_OF_MEMORY and the like.
  virtual std::string text_of(int error) const;

  /// A card that has failed is well again in another process: another driver like this one is to be opened.
  virtual bool begins_anew() const { return false; }
  /// Some function has found its process to be gone, or has not had an answer.
  virtual bool is_gone() const { return false; }
  /// What was asked of it ends with `gone`, from now on, if it is a process of its own. Any thread.
  virtual void stop() const {}
  /// Once it was stopped: waits until the cards are free of it, or a second.
  virtual void wait_until_gone() const {}
};

/// "12.4" of 12040.
std::string text_of_version(int version);

/// That of this process.
class LoadedDriver final : public CudaDriver {
 public:
  /// It can be loaded.
  static bool is_installed(const std::string& library);
  /// Loads the library, which is never unloaded, and looks for the functions; nothing is begun.
  /// @param library  a file, or a name that is looked for
  /// @error  no library, or one without a function, in words
  static std::expected<std::unique_ptr<LoadedDriver>, std::string> load(const std::string& library);

#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) \
  int name parameters const override { return functions_.name arguments; }
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments) \
  int name parameters const override { return functions_.name arguments; }
#define RADDLE_CUDA_OWN(name, symbol, parameters)
#include "gpu/cuda/driver_functions.def"
  int load_module(void** module, const std::string& ptx) const override;
  int launch(void* function, unsigned blocks, unsigned threads_of_block, void* stream,
             std::span<const Parameter> parameters) const override;
  /// Memory that is there already, for the cards, too; as long as the process lives.
  int register_memory(void* memory, std::size_t bytes) const;

 private:
  struct Functions {
#define RADDLE_CUDA_WORDS(name, symbol, parameters, arguments) int(*name) parameters = nullptr;
#define RADDLE_CUDA_FUNCTION(name, symbol, parameters, arguments) int(*name) parameters = nullptr;
#define RADDLE_CUDA_OWN(name, symbol, parameters) int(*name) parameters = nullptr;
#include "gpu/cuda/driver_functions.def"
  };
  Functions functions_;
};

}  // namespace raddle::gpu
