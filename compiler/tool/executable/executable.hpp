#pragma once
// What a script is run by, made once for `raddle run`, sessions and sweeps.
#include <optional>

#include "compiler/appkernel/clang_compiler.hpp"
#include "compiler/codegen/background_compiler.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "vm/program/program.hpp"

namespace raddle::tool {

/// The program of a script, and the compiler of its leaves with their cache. Its const functions and kernel_compiler()
/// may be called by several threads at once.
class Executable {
 public:
  /// @param compilation  without errors
  /// @param entry        what the program begins with; none: what the module does
  Executable(Compilation compilation, const Options& options, ir::FunctionId entry = ir::none);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const CheckedProgram& checked() const { return *compilation_.checked; }
  const ir::Module& module() const { return compilation_.module; }
  const vm::Program& program() const { return program_; }
  /// Null: leaves are only interpreted, as the options say.
  vm::KernelCompiler* kernel_compiler() { return kernel_compiler_ ? &*kernel_compiler_ : nullptr; }
  vm::AppKernelCompiler* app_kernel_compiler() { return &app_kernel_compiler_; }
  codegen::LeafCounters leaf_counters() const;
  /// Failures of it have none then. @pre nothing of it runs
  void forget_places();
  /// Lets go of all but program(), to which values may refer. @pre nothing of it runs
  void keep_program();

 private:
  Compilation compilation_;
  vm::Program program_;
  std::optional<codegen::BackgroundCompiler> kernel_compiler_;
  appkernel::ClangCompiler app_kernel_compiler_;
};

}  // namespace raddle::tool
