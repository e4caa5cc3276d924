#include "compiler/tool/executable/executable.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/codegen/leaf_cache.hpp"
#include "compiler/emit/emit_program.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::tool {

codegen::LeafSource leaf_source(const ir::Module& module, const Options& options) {
  const auto builtin_name = [](std::uint32_t index) { return std::string_view(stdlib::builtins()[index].name); };
  return {&module, builtin_name, /*unrolls_recursion=*/options.inlining != "never"};
}

Executable::Executable(Compilation compilation, const Options& options, ir::FunctionId entry)
    : compilation_(std::move(compilation)),
      program_(emit_program(compilation_.module, entry != ir::none ? entry : compilation_.module.entry)) {
  if (!options.interpret_only)
    leaf_compiler_.emplace(leaf_source(compilation_.module, options),
                           options.jit_cache ? codegen::default_cache_folder() : "");
}

codegen::LeafCounters Executable::leaf_counters() const {
  return leaf_compiler_ ? leaf_compiler_->counters() : codegen::LeafCounters{};
}

void Executable::forget_places() { std::ranges::fill(program_.places, vm::Place{}); }

void Executable::keep_program() {
  leaf_compiler_.reset();
  compilation_ = {};
}

}  // namespace raddle::tool
