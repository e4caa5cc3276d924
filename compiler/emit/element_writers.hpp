#pragma once
// Which operations assign elements of the same array: for the message where one is assigned twice.
#include "compiler/ir/module.hpp"
#include "vm/program/program.hpp"

namespace raddle::emit {

/// Adds those of a function's arrays whose elements are assigned at two places.
void add_element_writers(const ir::Function& function, vm::Program& program);

}  // namespace raddle::emit
