#pragma once
// Which library functions a leaf function may call. infer-leaves asks whether, codegen asks which.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/types/type_store.hpp"

namespace raddle {

enum class LeafBuiltin : std::uint8_t {
#define RADDLE_LEAF_BUILTIN(enumerator, name, inputs, output, failure) enumerator,
#include "compiler/opt/leaf_builtins.def"
};

/// How a leaf builtin can fail at run time; see leaf_builtins.def.
enum class LeafBuiltinFailure : std::uint8_t { nothing, domain, overflow, assertion };

/// @param argument_types  of the operands as they are passed; named types count as their base
/// @return                none if a leaf can not call that function with those arguments
std::optional<LeafBuiltin> leaf_builtin(const TypeStore& types, std::string_view name,
                                        std::span<const TypeId> argument_types);

TypeId result_type_of(LeafBuiltin builtin);
LeafBuiltinFailure failure_of(LeafBuiltin builtin);

}  // namespace raddle
