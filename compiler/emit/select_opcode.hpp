#pragma once
// Which instruction an IR operation becomes, by its operands' type.
#include "compiler/ir/module.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// @param type  of the first operand, or `error` if there is none
/// @pre   not a control operation or call_app
vm::Opcode select_opcode(const ir::Op& op, TypeKind type);

}  // namespace raddle::emit
