#pragma once
// Arrays that tell when a loop's updates are done.
#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// Note [updates]. A read of an updateable gives the value of that moment. Who wants the value after all updates of a
/// loop waits for an array that the loop fills. So each `update` in a loop keeps the arrays open that the loop writes:
/// an array_hold follows it for each of them. That is right for arrays and updateables from outside of the loop: who
/// is made in an iteration is done with it.
///
/// An array is not held by an update that may need it closed, which would wait for itself: one that depends on what
/// reads more of the array than single elements. A call that updates what it is given holds nothing, as nothing tells
/// when it is done.
void hold_arrays(const TypeStore& types, ir::Function& function);

}  // namespace raddle::lowering
