#include "vm/device/launch_kernel.hpp"

#include <utility>

namespace raddle::vm {

LaunchKernel launch_kernel(const Program& program, const ForeachSite& site) {
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : program.kernels) kernels.push_back(&kernel);
  if (!walks(site)) {
    LaunchKernel own{.group = group_of(kernels, site.launch.leaf),
                     .entry = {KernelEntry::range, program.functions[site.launch.leaf].kernel_entry.reads},
                     .arguments = {},
                     .near = {}};
    const Kernel& leaf = own.group.front();
    for (const LaunchInput& capture : site.launch.captures) {
      const auto parameter = static_cast<KernelRegister>(1 + own.entry.reads + own.arguments.size());
      own.near.push_back(is_array(leaf.types[parameter]) ? near_elements(leaf, parameter) : std::nullopt);
      own.arguments.push_back({.kind = KernelArgument::Kind::variable, .variable = capture.operand});
    }
    return own;
  }
  WalkingKernel walking = walking_kernel(program, site, site.is_nest());
  kernels.push_back(&walking.kernel);
  return {.group = group_of(kernels, static_cast<KernelId>(kernels.size() - 1)),
          .entry = KernelEntry::range,
          .arguments = std::move(walking.arguments),
          .near = {}};
}

}  // namespace raddle::vm
