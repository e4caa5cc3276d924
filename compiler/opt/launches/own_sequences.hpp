#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Loops in order that fill arrays element by element, each from earlier ones, as those of factors of a matrix, of the
/// table of an alignment, of Gauss and Seidel:
///   before  L = array_new n, m            after  foreach z in [0:0] {
///           foreach j { L[0, j] = 0 }              own = array_new n, m
///           for i { for j {                        foreach j { own[0, j] = 0 }
///             L[i, j] = f(L[i - 1, j],             for i { for j { own[i, j] = f(own[i - 1, j], own[i, j - 1]) } }
///                         L[i, j - 1]) } }         foreach k in [0 : n * m - 1] { L[z * (n * m) + k] = own[k] }
///                                                }
/// All that writes such arrays becomes one iteration, which fills arrays of its own and stores each as a row: that is
/// a kernel of opt/flatten, or nothing is changed. What other loops read of these arrays comes when all of it is there.
/// Loops that have kernels of their own (loop_kernels.hpp) stay, and those of very long functions. @pre launches are
/// found, nests are not
void launch_own_sequences(ir::Module& module, ir::Function& function, bool is_alone);

}  // namespace raddle::opt
