#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Marks arrays of numbers that one index launch fills and that are read by reductions only (`sum`, `avg`, `max`, ...)
/// and by `size`: `array_new ... reduced`. The VM need not keep their elements: a sum over a billion points takes no
/// memory.
/// Needs: find_index_launches.
void find_reduced_arrays(ir::Module& module);

}  // namespace raddle::opt
