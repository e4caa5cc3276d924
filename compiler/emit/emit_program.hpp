#pragma once
// The optimised IR as a program for the VM.
#include "compiler/ir/module.hpp"
#include "vm/program/program.hpp"

namespace raddle {

/// @param module  verified. Functions keep their numbers: vm::FunctionId is ir::FunctionId. The
///                entry's parameters are the script's, its outputs the script's results
/// Writers of arrays are counted anew from the operations (`writers n` of the IR is not looked at): each operation of
/// a region that may write the array or one of its rows is one writer.
vm::Program emit_program(const ir::Module& module);

}  // namespace raddle
