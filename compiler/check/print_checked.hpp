#pragma once
// `--emit=checked`: what check found out, as tables.
#include <string>

#include "compiler/check/checked_program.hpp"

namespace raddle {

/// Functions with their signatures, variables with role, type and use, parameters and results; each with its position.
std::string print_checked(const CheckedProgram& program, const SourceMap& sources);

}  // namespace raddle
