#pragma once
// What the results of `@memo` functions depend on besides their inputs.
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Fills in the code of `memo` operations: a line `NAME HASH` for the function and each one that it may call, of the
/// text of its IR. Positions do not count, nor does what an app may take of the machine.
///
///   before  %key, %o = memo "f", "", %x files 0 {...}
///   after   %key, %o = memo "f", "f.1 0f3a...\ng 77e0...\n", %x files 0 {...}
///
/// Warns of functions that do more than to compute their outputs from their inputs.
void key_memo_calls(ir::Module& module, Diagnostics& diagnostics);

}  // namespace raddle::opt
