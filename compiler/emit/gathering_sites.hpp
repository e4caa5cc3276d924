#pragma once
#include "vm/program/program.hpp"

namespace raddle::emit {

/// For each launch and nest whose points read elements that do not follow each other: a second site of the same loop,
/// ForeachSite::gathering, whose leaf takes them out of whole arrays. Needs: the functions, their kernels.
void add_gathering_sites(vm::Program& program);

}  // namespace raddle::emit
