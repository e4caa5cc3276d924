#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Puts the bodies of small functions in place of their calls: those without regions, calls and effects whose
/// operations can not fail, so that neither order nor messages change. Each operation awaits its own operands as
/// before: the call stays non-strict.
///   function @half composite (%x: float) -> (%y: float) {
///     %y = div %x, 2.0
///   }
///   before   %a = call @half %b      after   %a = div %b, 2.0
/// Before fold-constants: arguments are often constants.
void inline_calls(ir::Module& module);

}  // namespace raddle::opt
