#include "compiler/tool/executable/executable.hpp"

#include <algorithm>
#include <utility>

#include "compiler/codegen/leaf_cache.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/tool/process/machine.hpp"

namespace raddle::tool {

namespace {

/// Under --memory one after the other: LLVM's memory is part of what a run takes beside its limit.
unsigned compiling_threads(const Options& options) {
  constexpr unsigned most = 8;
  if (options.memory_bytes != 0) return 1;
  return std::min(options.workers != 0 ? options.workers : core_count(), most);
}

}  // namespace

Executable::Executable(Compilation compilation, const Options& options, ir::FunctionId entry)
    : compilation_(std::move(compilation)),
      program_(emit_program(compilation_.module, entry != ir::none ? entry : compilation_.module.entry)),
      app_kernel_compiler_(options.jit_cache ? codegen::default_cache_folder() : "", options.checks_kernels) {
  if (!options.interpret_only)
    kernel_compiler_.emplace(/*unrolls_recursion=*/options.inlining != "never", compiling_threads(options),
                             options.jit_cache ? codegen::default_cache_folder() : "");
}

codegen::LeafCounters Executable::leaf_counters() const {
  return kernel_compiler_ ? kernel_compiler_->counters() : codegen::LeafCounters{};
}

void Executable::forget_places() { std::ranges::fill(program_.places, vm::Place{}); }

void Executable::keep_program() {
  kernel_compiler_.reset();
  compilation_ = {};
}

}  // namespace raddle::tool
