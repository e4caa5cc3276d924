#include "compiler/tool/executable/executable.hpp"

#include <algorithm>
#include <utility>

#include "compiler/codegen/leaf_cache.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/tool/process/machine.hpp"

namespace raddle::tool {

namespace {

constexpr unsigned most_compiling_threads = 8;  ///< each takes some 10 MB; scripts have some ten kernels

}  // namespace

Executable::Executable(Compilation compilation, const Options& options, ir::FunctionId entry)
    : compilation_(std::move(compilation)),
      program_(emit_program(compilation_.module, entry != ir::none ? entry : compilation_.module.entry)),
      app_kernel_compiler_(options.jit_cache ? codegen::default_cache_folder() : "", options.checks_kernels) {
  const unsigned workers = options.workers != 0 ? options.workers : core_count();
  if (!options.interpret_only)
    kernel_compiler_.emplace(/*unrolls_recursion=*/options.inlining != "never",
                             std::min(workers, most_compiling_threads),
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
