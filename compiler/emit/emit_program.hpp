#pragma once
// The optimised IR as a program for the VM.
#include "compiler/ir/module.hpp"
#include "vm/program/program.hpp"

namespace raddle {

/// @param module  verified. Functions keep their numbers: vm::FunctionId is ir::FunctionId
/// @param entry   what the program begins with: its parameters are the program's, its outputs the program's results
/// Writers of arrays are counted anew from the operations (`writers n` of the IR is not looked at): each operation of
/// a region that may write the array or one of its rows is one writer.
vm::Program emit_program(const ir::Module& module, ir::FunctionId entry);
inline vm::Program emit_program(const ir::Module& module) { return emit_program(module, module.entry); }

}  // namespace raddle
