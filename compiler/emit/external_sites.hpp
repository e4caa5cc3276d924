#pragma once
// What a program calls outside of itself: external programs, functions of C and Tcl.
#include "compiler/emit/operand_map.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// A type as code in another language gets its values. @param type  none that has errors
vm::ForeignType foreign_type(const TypeStore& types, TypeId type);

/// @param function  declared as code in another language
vm::ForeignFunction foreign_function(const TypeStore& types, const ir::Function& function);

/// The command of an `app` function, or of one in another language what its files are; AppSite::foreign is left open.
vm::AppSite app_site(const ir::Module& module, const ir::Function& function, const OperandMap& operands,
                     std::uint32_t body);

}  // namespace raddle::emit
