#pragma once
// `wait (t)` for an updateable.
#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// Note [awaited updates]. An updateable has its last value when all updates are done, wherever they stand. So each
/// one that a `wait` names gets an array beside it, which stays empty: each update holds it open (array_hold), and the
/// `wait` waits until it is closed. A function that is given such an updateable gets the array as a further input, and
/// has a further output, a void, that is set when its own updates are done: the call holds the array open until then.
/// That is so for all updateables which calls may make one with one that is waited for; what else there is stays as it
/// is.
///
/// To be called before writers are counted.
void await_updates(ir::Module& module);

}  // namespace raddle::lowering
