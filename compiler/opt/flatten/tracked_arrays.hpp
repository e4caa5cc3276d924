#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Of arrays that a launched function tracks (Note [tracked arrays] in ir/module.hpp) those become plain ones whose
/// elements are proven to be written once, each, before any is read:
///   u[0] = a; foreach i in [1 : n - 2] { u[i] = .. } u[n - 1] = b;
/// Others that are filled from their first element on, or from their last one, `x[t] = x[t - 1] + v;`, get a
/// FillOrder: a number says then which elements they have. That the order is kept is looked at in any case.
void simplify_tracked_arrays(ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
