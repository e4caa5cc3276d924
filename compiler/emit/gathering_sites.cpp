#include "compiler/emit/gathering_sites.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "vm/program/walking_kernel.hpp"

namespace raddle::emit {

namespace {

constexpr std::ptrdiff_t most_arguments = 32, most_values = 16;  ///< for which a launched leaf has room in any case

bool has_room(const std::vector<vm::KernelArgument>& arguments) {
  const auto values = std::ranges::count(arguments, vm::KernelArgument::Kind::value, &vm::KernelArgument::kind);
  return std::ssize(arguments) <= most_arguments && values <= most_values;
}

bool gathers(const vm::Program& program, const vm::ForeachSite& site) {
  const vm::IndexLaunch& launch = site.launch;
  if (launch.leaf == vm::no_id || launch.reads.empty() || site.nest.is_chained ||
      !vm::obstacle_of_walking(site).empty())
    return false;
  // rows of streams are faster, but loops in a leaf are made for several points at a time only where it gathers
  const bool runs_rows = site.is_nest() && !program.functions[launch.leaf].is_heavy;
  if (runs_rows ? launch.has_spread_streams(1) : launch.is_contiguous(1)) return false;
  if (launch.projection != vm::no_id && !program.kernels[launch.projection].exists()) return false;
  return program.kernels[launch.leaf].exists() && !program.functions[launch.leaf].calls_library;
}

vm::FunctionId add_leaf(vm::Program& program, const vm::Function& leaf, vm::Kernel kernel) {
  vm::Function made;
  made.name = leaf.name;
  made.body = leaf.body;
  made.is_leaf = true;
  made.is_heavy = leaf.is_heavy;
  made.leaf_parameters.assign(kernel.types.begin(), kernel.types.begin() + kernel.parameter_count);
  made.leaf_results = leaf.leaf_results;
  made.scalar_code = vm::assemble(kernel);
  made.place = leaf.place;
  program.functions.push_back(std::move(made));
  program.kernels.push_back(std::move(kernel));
  return static_cast<vm::FunctionId>(program.functions.size() - 1);
}

vm::IndexLaunch gathering_launch(vm::Program& program, const vm::ForeachSite& site, vm::WalkingKernel walking) {
  vm::IndexLaunch made;
  made.start = site.launch.start;
  made.leaf = add_leaf(program, program.functions[site.launch.leaf], std::move(walking.kernel));
  for (const vm::KernelArgument& argument : walking.arguments) {
    const bool is_value = argument.kind == vm::KernelArgument::Kind::value;
    made.captures.push_back({.operand = argument.variable, .value = is_value ? argument.index : vm::no_id});
  }
  for (vm::LaunchSink sink : site.launch.sinks) {
    const auto first_key = static_cast<std::uint32_t>(made.keys.size());
    if (sink.key_count != 0) made.keys.push_back(site.launch.keys[sink.first_key]);
    sink.first_key = first_key;
    made.sinks.push_back(std::move(sink));
  }
  return made;
}

}  // namespace

void add_gathering_sites(vm::Program& program) {
  const std::size_t count = program.foreaches.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!gathers(program, program.foreaches[i])) continue;
    vm::ForeachSite second = program.foreaches[i];
    vm::WalkingKernel walking = vm::walking_kernel(program, second, /*walks_nest=*/false);
    if (!has_room(walking.arguments)) continue;
    second.launch = gathering_launch(program, second, std::move(walking));
    program.foreaches[i].gathering = static_cast<std::uint32_t>(program.foreaches.size());
    program.foreaches.push_back(std::move(second));
  }
}

}  // namespace raddle::emit
