#pragma once
// Leaf functions -> machine code, with LLVM. No LLVM header is needed to use it.
#include <cstdint>
#include <expected>
#include <string>

#include "compiler/codegen/leaf_image.hpp"
#include "compiler/codegen/leaf_source.hpp"

namespace raddle::codegen {

/// Compiles `leaf` with those it calls, for the CPU of this machine. Cost: ten milliseconds or more.
/// @error  why it can not be compiled, in words
std::expected<LeafImage, std::string> compile_leaf(const LeafSource& source, ir::FunctionId leaf);

enum class LlvmText : std::uint8_t { generated, optimised };

/// All leaves of the module as LLVM IR: `--emit=llvm`. A comment stands for each that can not be compiled.
std::expected<std::string, std::string> llvm_text(const LeafSource& source, LlvmText form);

}  // namespace raddle::codegen
