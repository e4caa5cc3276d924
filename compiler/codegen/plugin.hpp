#pragma once
// The entry points of libraddle_codegen.so, found by dlsym: all that the tool sees of LLVM's side of codegen.
#include <cstdint>

#include "compiler/codegen/leaf_source.hpp"

namespace raddle::codegen {

/// The plugin reads the tool's IR, so both must come from one build. The sizes tell most that do not; the first
/// number is raised with a change they do not show.
inline constexpr std::uint32_t plugin_version =
    4U << 24 | static_cast<std::uint32_t>(sizeof(ir::Op) << 12 ^ sizeof(ir::Function) << 4 ^ sizeof(ir::Module));

/// Gets the whole text in one call, and copies it.
using TextReceiver = void (*)(void* receiver, const char* text, std::uint64_t size_bytes);

using CompileLeaf = bool (*)(const LeafSource* source, std::uint32_t version, ir::FunctionId leaf, TextReceiver receive,
                             void* receiver);
using GetLlvmText = bool (*)(const LeafSource* source, std::uint32_t version, bool optimised, TextReceiver receive,
                             void* receiver);

inline constexpr const char* plugin_file = "libraddle_codegen.so";  ///< beside the executable

}  // namespace raddle::codegen

extern "C" {
/// @param version  the caller's plugin_version
/// @return         true: the bytes of a LeafImage have been given to `receive`; false: the reason why there is none has
bool raddle_codegen_compile(const raddle::codegen::LeafSource* source, std::uint32_t version,
                            raddle::ir::FunctionId leaf, raddle::codegen::TextReceiver receive, void* receiver);
/// @return  true: the text has been given to `receive`; false: the reason why there is none has
bool raddle_codegen_llvm_text(const raddle::codegen::LeafSource* source, std::uint32_t version, bool optimised,
                              raddle::codegen::TextReceiver receive, void* receiver);
}
