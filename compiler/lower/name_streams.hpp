#pragma once
// Identities of what takes random numbers.
#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// Sets Op::stream. Note [streams]: a call, or a loop, is known by what it calls and by how many of the same name
/// stand before it in its function. So the numbers that a script draws stay the same when it is optimised otherwise,
/// when comments and other statements are added, and when other functions change. Statements outside of functions are
/// also known by their module's name.
void name_streams(ir::Module& module);

}  // namespace raddle::lowering
