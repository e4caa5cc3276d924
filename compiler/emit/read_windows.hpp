#pragma once
// Which reads of a launch are of elements that follow each other, as those of a stencil's window do.
#include "vm/program/program.hpp"

namespace raddle::emit {

/// Sets KernelEntry::follows and row_follows. @param nest  that the launch is the inner loop of; perhaps none
/// @pre the entry's `reads` are set
void find_windows(const vm::Program& program, const vm::IndexLaunch& launch, const vm::LaunchNest& nest,
                  vm::KernelEntry& entry);

}  // namespace raddle::emit
