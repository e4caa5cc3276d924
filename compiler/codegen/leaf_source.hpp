#pragma once
// What codegen compiles from.
#include <cstdint>
#include <string_view>

#include "compiler/ir/module.hpp"

namespace raddle::codegen {

struct LeafSource {
  const ir::Module* module = nullptr;  ///< not changed while the compiler lives: it is read from another thread
  /// Name of the library function with that index (ir::Op::callee of call_builtin). A function of the tool: the plugin
  /// does not link the library.
  std::string_view (*builtin_name)(std::uint32_t index) = nullptr;
  /// Calls of small recursive functions are made several levels deep without calling: Note [levels] in
  /// leaf_to_llvm.cpp.
  bool unrolls_recursion = true;
};

}  // namespace raddle::codegen
