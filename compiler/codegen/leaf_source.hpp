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
};

}  // namespace raddle::codegen
