#pragma once
// Reads the signature strings of stdlib/builtins.def (Note [signatures] there).
#include <optional>
#include <string_view>

#include "compiler/check/context.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::check_detail {

/// Enters the builtins that are always there or whose module is imported into `context.callables`, the others into
/// `context.not_imported`. After declare_types: signatures may name types of the library's modules.
void declare_builtins(Context& context);

/// @return  empty if `text` is malformed or names an unknown type. Default values are kept in
///          CheckedProgram::builtin_defaults.
std::optional<Signature> read_signature(Context& context, std::string_view text);

/// `file!` or `url!` in a signature's outputs: the builtin returns an existing file as an ordinary result.
bool returns_existing_files(const stdlib::Builtin& builtin);

}  // namespace raddle::check_detail
