#pragma once
// Leaf functions of the dataflow IR -> LLVM IR. Knows nothing of targets or of how the code is run.
#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "compiler/codegen/leaf_source.hpp"

namespace llvm {
class Module;
}

namespace raddle::codegen {

/// Name of the C function of `leaf`, with the signature raddle_leaf_function.
std::string exported_name(ir::FunctionId leaf);

/// Adds to `out` the body of each of `leaves` and of all leaves they call (internal, fastcc: see Note [inner
/// functions] in leaf_to_llvm.cpp), and for each of `leaves` the C function exported_name().
///
/// @param source  optimised and verified. In a leaf each operation follows those that assign its operands, and a
///                variable that is read has been assigned on every path to there
/// @error         what can not be compiled, in words; `out` is to be thrown away then
std::expected<void, std::string> leaves_to_llvm(const LeafSource& source, std::span<const ir::FunctionId> leaves,
                                                llvm::Module& out);

}  // namespace raddle::codegen
