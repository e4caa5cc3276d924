#pragma once
#include <expected>
#include <string>

#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/space/cursor.hpp"

namespace raddle::sweep {

/// A script that runs the same programs: loops over the values of a plain grid, else over a list of the points.
/// @param title  the command line, for its first line   @error  there are too many values to write down
std::expected<std::string, std::string> print_script(const Space& space, const CursorOptions& options,
                                                     const CommandTemplate& command, const std::string& title);

}  // namespace raddle::sweep
