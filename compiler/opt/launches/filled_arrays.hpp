#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Marks the elements of dense arrays of numbers that index launches, nests and loops with kernels write, which begin
/// once what they need is there: `array_new ... filled`. The VM keeps them in one buffer from the start (Note
/// [Promises] in vm/value/array.hpp). Besides them there may be single assignments; where launches, which promise what
/// they write, are among the writers, only of numbers that are there at once, as those of a boundary. Another loop may
/// take as long as it likes from one element to the next; who reads what it writes waits for single elements.
/// Needs: find_index_launches, find_loop_kernels, find_reduced_arrays.
void find_filled_arrays(ir::Module& module);

}  // namespace raddle::opt
