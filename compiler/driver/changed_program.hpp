#pragma once
// The record does not look into programs: whether one was written since its points were run.
#include <vector>

#include "compiler/sweep/command_template.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::driver {

/// Warns where the program was written after earlier runs of the same command, if none has run all anew since.
/// @param runs  those of the record
/// @param own   the one that has taken points from others
void warn_of_changed_program(const sweep::CommandTemplate& command, const std::vector<vm::RunRow>& runs,
                             const vm::RunRow& own);

}  // namespace raddle::driver
