#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Makes kernels of loops that fill arrays element by element, one iteration after the other:
///   for (float m = 0.0, int t = 0; t < n; t = t + 1, m = v) { v = 0.9 * m + 0.1 * x[t]; e[t] = v; }
/// Such a loop gets an ir::LoopKernel: a leaf that runs many iterations in one call. What they insert into arrays from
/// outside it writes to rows with the keys beside, as the arrays of others may not be written before it is known that
/// an iteration ends well. An iteration may read what those before it have inserted, `e[t - 1]`, as far back as is
/// known when compiling: it lies in the row. The body stays: it is run for an iteration that does not end well, and
/// where there is no machine code. An `iterate`, and a loop with a loop in it that fills arrays, has no such kernel.
/// @pre operations are ordered, leaves and index launches are found; the functions are made of whole bodies
void find_loop_kernels(ir::Module& module);

/// Whether a loop will get one. @param around  operations that it lies in
bool has_loop_kernel(ir::Module& module, const ir::Function& function, const ir::Op& loop,
                     const std::vector<const ir::Op*>& around);

}  // namespace raddle::opt
