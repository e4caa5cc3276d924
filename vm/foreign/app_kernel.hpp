#pragma once
// An AppKernel by hand: a function for a warp in a CUDA C++ file, called as machine code of this machine.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <mutex>
#include <string>

#include "vm/foreign/foreign_code.hpp"

namespace raddle::vm {

/// @param words  CArguments::words(): inputs, then outputs
/// @param error  gets what went wrong, as it follows the kernel's name in a message, or stays as it is
/// @param size   of that text, the zero byte included
/// @return       what the kernel has returned; 0: nothing
using AppKernelCode = std::int64_t (*)(std::uint64_t* words, char* error, std::size_t size);

/// The kernel of a module for GPUs: calls of one AppKernel, each by a warp.
/// Parameters: the words of all calls, call by call; how many words a call has; how many calls there are; where the
/// status of each goes, an int64_t. Any number of threads, by whole warps.
inline constexpr const char* calls_kernel_name = "raddle_calls";

/// Compiles AppKernels and loads them. Called by all workers at once.
class AppKernelCompiler {
 public:
  virtual ~AppKernelCompiler() = default;
  /// The same code for the same `function`, whatever has become of its file meanwhile.
  /// @return code for as long as the process runs; else why there is none, for the user
  virtual std::expected<AppKernelCode, std::string> load(const ForeignFunction& function) = 0;
  /// Code that looks whether 32 lanes do what one lane does. It gets the words of a call that has ended well, writes
  /// none of them, and tells what differs as a call tells what goes wrong.
  /// @return null: nobody has asked for that
  virtual std::expected<AppKernelCode, std::string> load_check(const ForeignFunction&) { return nullptr; }
  /// Has the text of a module in PTX made, with one kernel, `calls_kernel_name`. Never waits: it may take a second.
  /// @param done  called with it on a thread of the compiler's, or with why the kernel runs on no GPU, for the user, in
  /// a
  ///              line; not at all if the compiler ends before
  using PtxReceiver = std::function<void(const std::expected<std::string, std::string>&)>;
  virtual void request_ptx(const ForeignFunction& function, PtxReceiver done) = 0;
};

class AppKernelFunction final : public ForeignCode {
 public:
  /// @param compiler  null: there is none, and each call fails
  AppKernelFunction(const ForeignFunction& function, AppKernelCompiler* compiler)
      : ForeignCode(function), compiler_(compiler) {}
  std::string call(std::span<const Value> inputs, std::span<Value> outputs) override;

 private:
  void load();  // once: fills code_, or problem_

  AppKernelCompiler* const compiler_;
  std::once_flag once_;  // what follows is written under it and only read after it
  std::string problem_;
  AppKernelCode code_ = nullptr;
  AppKernelCode check_ = nullptr;  ///< null: calls are not checked
};

}  // namespace raddle::vm
