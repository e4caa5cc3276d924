#pragma once
// What devices compute of a loop: the kernel that each of its points is a call of.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "vm/kernel/kernel_compiler.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// What an argument of the kernel is: the same for all points of a batch.
struct KernelArgument {
  enum class Kind : std::uint8_t {
    variable,     ///< seen from the frame around the loop
    outer_low,    ///< of a nest: the outer loop's variable in the first iteration of the batch
    outer_step,   ///< likewise, and of one iteration more
    inner_low,    ///< the inner loop's
    inner_step,   ///< likewise
    inner_count,  ///< points of an iteration
    first_key,    ///< where the first point of the batch writes, by sink
    row_stride,   ///< from where an iteration writes to where the next one does, by sink
  };
  Kind kind = Kind::variable;
  Operand variable = {};
  std::uint32_t sink = 0;
  bool operator==(const KernelArgument&) const = default;
};

/// Note [walking kernels]. The leaf of a launch whose points read and write elements that follow each other is the
/// kernel itself: devices hand it the elements (KernelEntry::reads). Else the kernel is made here: it looks for its
/// elements in whole arrays, and calls the leaf. Its first parameter is the value of the loop variable; of a nest it is
/// the number of the point in the batch, all iterations of the outer loop in order, of which it computes the variables
/// of both loops and what the prelude does. Where an element is not there, or one is written that is not the next one,
/// the point does not end well, as any other: it is left to the workers, who know what is to be said.
struct LaunchKernel {
  KernelGroup group;
  KernelEntry entry;                      ///< of the kind `range`
  std::vector<KernelArgument> arguments;  ///< of the parameters behind the point and the elements
};

/// What the script says of the loop, or of a function that its points call: `@cpu` if one of them says so.
Placement placement_of(const Program& program, const ForeachSite& site);

/// All that is called for a point, at any depth.
std::set<FunctionId> functions_called_by(const Program& program, const ForeachSite& site);

/// Why no device can run points of the loop, in words for the user, or may, as `@cpu` says; "": one can.
std::string obstacle_of(const Program& program, const ForeachSite& site);

/// Note [walking kernels]: it needs one.
bool walks(const ForeachSite& site);

/// @pre obstacle_of() is ""
LaunchKernel launch_kernel(const Program& program, const ForeachSite& site);

}  // namespace raddle::vm
