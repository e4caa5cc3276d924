#pragma once
// A call of a function of the library.
#include "compiler/emit/operand_map.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// @param op  a call_builtin
vm::BuiltinSite library_site(const ir::Op& op, const OperandMap& operands, std::uint32_t body);

}  // namespace raddle::emit
