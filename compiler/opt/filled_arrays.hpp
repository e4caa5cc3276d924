#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Marks the elements of dense arrays of numbers that index launches and nests write, which begin once what they need
/// is there, and besides them only single assignments of numbers that are there at once, as those of a boundary:
/// `array_new ... filled`. The VM keeps them in one buffer from the start (Note [Promises] in
/// vm/value/array.hpp). A loop that is no launch may take as long as it likes from one element to the next; who reads
/// what it writes waits for single elements.
/// Needs: find_index_launches, find_reduced_arrays.
void find_filled_arrays(ir::Module& module);

}  // namespace raddle::opt
