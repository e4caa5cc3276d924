#pragma once
// Random numbers as functions of what they are given.
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Note [explicit streams]. What draws takes the stream that its frame has (Note [streams of random numbers] in
/// vm/math/random.hpp), so it has to be interpreted. Here streams become variables: a function that draws, and does
/// nothing else that is to be interpreted, gets two more parameters, a seed and a stream; so does the body of a loop.
/// What it draws is then made of them by operations that kernels can do, as of any other numbers. Where such code
/// begins, `stream_` gives the frame's. The numbers are the same.
/// @pre  calls of the script by the loop over a sweep's points have a seed and a stream behind their operands; a script
///       that keeps to its frames loses them
void make_streams_explicit(ir::Module& module);

}  // namespace raddle::opt
