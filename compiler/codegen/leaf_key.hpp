#pragma once
// What a compiled leaf is found by in the cache.
#include <string>
#include <string_view>

#include "compiler/codegen/leaf_source.hpp"

namespace raddle::codegen {

/// All that the code of `leaf` depends on, as text: see Note [key]. Two leaves of one key have the same code.
/// @param compiler  identity of the build of the compiler
/// @param cpu       identity of the CPU
std::string leaf_key(const LeafSource& source, ir::FunctionId leaf, std::string_view compiler, std::string_view cpu);

}  // namespace raddle::codegen
