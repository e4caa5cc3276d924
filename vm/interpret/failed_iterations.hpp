#pragma once
// Which iterations of loops a failure lies in, as messages tell them.
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/program/program.hpp"
#include "vm/value/failure.hpp"

namespace raddle::vm {

/// Those whose variable is there, and a number, a boolean or a short string; of more than some eight the innermost.
/// @param frame  in which something fails
/// @param at     where that is  @return outermost first
std::vector<FailedIteration> failed_iterations(const Program& program, Frame& frame, const CallPlace& at);

}  // namespace raddle::vm
