#pragma once
// Kernels that look for the elements that a point of a launch reads.
#include <cstdint>
#include <string>
#include <vector>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// What an argument of a walking kernel is: the same for all points that are computed together.
struct KernelArgument {
  enum class Kind : std::uint8_t {
    variable,         ///< seen from the frame around the loop
    value,            ///< a result of the nest's prelude, by index
    first_iteration,  ///< of a nest: the number of the outer loop's first one that is computed
    outer_low,        ///< the outer loop's variable in iteration 0
    outer_step,       ///< likewise, and of one iteration more
    outer_each,       ///< CollapsedLoop::each, by its index
    inner_low,        ///< the inner loop's
    inner_step,       ///< likewise
    inner_count,      ///< points of an iteration
    first_key,        ///< where iteration 0 writes, by index of the sink
    row_stride,       ///< how far two iterations of a collapsed loop write apart: its index times sinks, and the sink's
  };
  Kind kind = Kind::variable;
  Operand variable = {};
  std::uint32_t index = 0;
  bool operator==(const KernelArgument&) const = default;
};

/// Note [walking kernels]. The leaf of a launch is given the elements that a point reads. A walking kernel computes
/// where they lie, takes them out of whole arrays, and calls the leaf. Its first parameter is the value of the loop
/// variable. One that walks a nest has in its place the number of the point, all iterations of the outer loop in order,
/// of which it computes the variables of both loops and what the prelude does. Where an element is not there, or one is
/// written that is not the next one, the point does not end well, as any other: who runs it has it interpreted, which
/// knows what is to be said.
struct WalkingKernel {
  Kernel kernel;                          ///< calls others by FunctionId
  std::vector<KernelArgument> arguments;  ///< of the parameters behind the first one
};

/// @pre obstacle_of_walking() is ""
WalkingKernel walking_kernel(const Program& program, const ForeachSite& site, bool walks_nest);

/// Why there is no such kernel, in words for the user; "": there is one.
std::string obstacle_of_walking(const ForeachSite& site);

}  // namespace raddle::vm
