#include "vm/device/launch_kernel.hpp"

#include <string>
#include <utility>

#include "vm/device/kernel_words.hpp"

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

RangeKernel call_kernel(const Program& program, FunctionId leaf) {
  const Function& function = program.functions[leaf];
  const std::vector<KernelType>& parameters = function.leaf_parameters;
  Kernel made;
  made.name = function.name + std::string(single_calls_suffix);
  made.place = function.place;
  made.types = {KernelType::int_};
  made.parameter_count = static_cast<std::uint32_t>(1 + parameters.size());
  KernelCall call{.kernel = leaf, .inputs = std::vector<KernelRegister>(parameters.size()), .results = {}};
  std::uint8_t numbers = 0;
  for (const bool takes_arrays : {false, true})
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (is_array(parameters[i]) != takes_arrays) continue;
      call.inputs[i] = static_cast<KernelRegister>(made.types.size());
      made.types.push_back(parameters[i]);
      numbers = static_cast<std::uint8_t>(numbers + (takes_arrays ? 0 : 1));
    }
  for (const KernelType type : function.leaf_results) {
    call.results.push_back(static_cast<KernelRegister>(made.types.size()));
    made.types.push_back(type);
  }
  made.outputs = call.results;
  KernelInstruction instruction;
  instruction.op = KernelOp::call;
  instruction.place = function.place;
  made.blocks = {{instruction}};
  made.calls = {std::move(call)};
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : program.kernels) kernels.push_back(&kernel);
  kernels.push_back(&made);
  return {.group = group_of(kernels, static_cast<KernelId>(kernels.size() - 1)),
          .entry = {KernelEntry::range, numbers}};
}

}  // namespace raddle::vm
