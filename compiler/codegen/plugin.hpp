#pragma once
// The entry points of libraddle_codegen.so, found by dlsym: all that the tool sees of LLVM's side of codegen.
#include <cstdint>

#include "vm/kernel/kernel_compiler.hpp"

namespace raddle::codegen {

/// Raised with each change of what is below. Kernels come as bytes that say of which form they are.
inline constexpr std::uint32_t plugin_version = 10;

/// Gets the whole text in one call, and copies it.
using TextReceiver = void (*)(void* receiver, const char* text, std::uint64_t size_bytes);

/// What is asked for, in C's types.
struct PluginRequest {
  const char* kernels;  ///< as vm::write_kernels() has them
  std::uint64_t size_bytes;
  const vm::KernelEntry* entries;  ///< for LLVM's text: of each one; else one, of the first kernel
  bool unrolls_recursion;
};

using CompileKernel = bool (*)(const PluginRequest* request, std::uint32_t version, TextReceiver receive,
                               void* receiver);
using GetLlvmText = bool (*)(const PluginRequest* request, std::uint32_t version, bool optimised, TextReceiver receive,
                             void* receiver);

using GetPtx = bool (*)(const PluginRequest* request, std::uint32_t version, TextReceiver receive, void* receiver);

using GetSuperPtx = bool (*)(const PluginRequest* requests, std::uint64_t count, std::uint32_t version,
                             TextReceiver receive, void* receiver);

inline constexpr const char* plugin_file = "libraddle_codegen.so";  ///< beside the executable

}  // namespace raddle::codegen

extern "C" {
/// @param version  the caller's plugin_version
/// @return         true: the bytes of a LeafImage have been given to `receive`; false: the reason why there is none has
bool raddle_codegen_compile(const raddle::codegen::PluginRequest* request, std::uint32_t version,
                            raddle::codegen::TextReceiver receive, void* receiver);
/// @return  true: the text has been given to `receive`; false: the reason why there is none has
bool raddle_codegen_llvm_text(const raddle::codegen::PluginRequest* request, std::uint32_t version, bool optimised,
                              raddle::codegen::TextReceiver receive, void* receiver);
/// @param request  with one entry, of the first kernel  @return  true: the PTX has been given to `receive`; false: the
/// reason why not has
bool raddle_codegen_ptx(const raddle::codegen::PluginRequest* request, std::uint32_t version,
                        raddle::codegen::TextReceiver receive, void* receiver);
/// @param requests  each as for raddle_codegen_ptx  @return  likewise, of the super kernel of all of them
bool raddle_codegen_super_ptx(const raddle::codegen::PluginRequest* requests, std::uint64_t count,
                              std::uint32_t version, raddle::codegen::TextReceiver receive, void* receiver);
}
