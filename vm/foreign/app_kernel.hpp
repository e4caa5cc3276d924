#pragma once
// An AppKernel by hand: a function for a warp in a CUDA C++ file, called as machine code of this machine.
#include <cstdint>
#include <expected>
#include <mutex>
#include <string>

#include "vm/foreign/foreign_code.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

/// Compiles AppKernels. Called by all workers at once.
class AppKernelCompiler {
 public:
  virtual ~AppKernelCompiler() = default;
  /// @return the bytes of a shared library with AppKernelFunction::symbol in it; else why there are none, for the user
  virtual std::expected<std::string, std::string> compile(const ForeignFunction& function) = 0;
};

class AppKernelFunction final : public ForeignCode {
 public:
  static constexpr const char* symbol = "raddle_app_kernel";

  /// @param compiler  null: there is none, and each call fails
  AppKernelFunction(const ForeignFunction& function, AppKernelCompiler* compiler)
      : function_(function), compiler_(compiler) {}
  ~AppKernelFunction() override;
  std::string call(std::span<const Value> inputs, std::span<Value> outputs) override;

 private:
  void load();  // once: fills kernel_, or problem_

  const ForeignFunction& function_;
  AppKernelCompiler* const compiler_;
  std::once_flag once_;  // what follows is written under it and only read after it
  std::string problem_;
  FileDescriptor file_;  // open as long as it is loaded: dlopen knows libraries by their names, which have its number
  void* library_ = nullptr;
  /// Of each argument where it lies: inputs, then outputs. @return 0, or what the kernel has returned
  std::int32_t (*kernel_)(void* const* arguments) = nullptr;
};

}  // namespace raddle::vm
