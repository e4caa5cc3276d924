#pragma once
// The tool's side of libraddle_codegen.so, which has LLVM in it. Includes and links no LLVM, so that a run that
// compiles nothing never pays for it.
#include <expected>
#include <span>
#include <string>

#include "compiler/codegen/leaf_image.hpp"
#include "compiler/codegen/kernel_key.hpp"

namespace raddle::codegen {

/// The plugin, loaded when it is first asked for something, and never unloaded: LLVM keeps state of the process.
/// Threads: any; what is compiled at a time has nothing in common (an LLVMContext each).
class Plugin {
 public:
  /// @param path  "": `plugin_file` beside the executable, or in ../lib/raddle
  explicit Plugin(std::string path = "");
  /// Tells builds apart. The plugin is not loaded for it. @return "": no plugin
  std::string identity() const;
  /// @error  why it can not be compiled: no plugin, or the plugin's reason
  std::expected<LeafImage, std::string> compile(const CodeRequest& request) const;
  /// `--emit=llvm`: all kernels as LLVM IR. @param kernels  as vm::write_kernels() has them. @param entries  of each
  /// one
  /// @error  why not: no plugin, or LLVM's text
  std::expected<std::string, std::string> llvm_text(const std::string& kernels,
                                                    std::span<const vm::KernelEntry> entries, bool unrolls_recursion,
                                                    bool optimised) const;
  /// What vm::KernelCompiler::request_ptx() is about. @param kernels  a group as vm::write_kernels() has it
  /// @error  why not: no plugin, or the plugin's reason
  std::expected<std::string, std::string> ptx(const std::string& kernels, vm::KernelEntry entry) const;
  /// What vm::KernelCompiler::request_super_ptx() is about. @param ranges  each as for ptx()  @error  likewise
  std::expected<std::string, std::string> super_ptx(std::span<const CodeRequest> ranges) const;

 private:
  const std::string path_;
};

}  // namespace raddle::codegen
