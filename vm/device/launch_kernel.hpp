#pragma once
// What devices compute of a loop, or of single calls: the kernel that each point is a call of.
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "vm/device/device_use.hpp"
#include "vm/device/near_elements.hpp"
#include "vm/kernel/kernel_compiler.hpp"
#include "vm/program/walking_kernel.hpp"

namespace raddle::vm {

/// The leaf of a launch whose points read and write elements that follow each other: devices hand it the elements
/// (KernelEntry::reads). Else a kernel that walks.
struct LaunchKernel {
  KernelGroup group;
  KernelEntry entry;                              ///< of the kind `range`
  std::vector<KernelArgument> arguments;          ///< of the parameters behind the point and the elements
  std::vector<std::optional<NearElements>> near;  ///< by argument: what a point reads of it, if it is an array
};

/// What the script says of the loop, or of a function that its points call: `@cpu` if one of them says so.
Placement placement_of(const Program& program, const ForeachSite& site);

/// The same of single calls of a function.
Placement placement_of(const Program& program, FunctionId function);

/// All that is called for a point, at any depth.
std::set<FunctionId> functions_called_by(const Program& program, const ForeachSite& site);

/// Why no device can run points of the loop, or may, as `@cpu` says.
Obstacle obstacle_of(const Program& program, const ForeachSite& site);

/// The same of single calls of a function. Of one that is no leaf there is always one.
Obstacle obstacle_of(const Program& program, FunctionId function);

/// Single calls of the function are worth a device, if one can make them.
bool takes_long(const Program& program, FunctionId function);

/// Note [walking kernels] in vm/program/walking_kernel.hpp: it needs one.
bool walks(const ForeachSite& site);

/// @pre there is no obstacle, here and below
LaunchKernel launch_kernel(const Program& program, const ForeachSite& site);

/// Whose point is a single call of the leaf: behind its number come the leaf's numbers, which are read, then its
/// arrays.
RangeKernel call_kernel(const Program& program, FunctionId leaf);

}  // namespace raddle::vm
