#include <algorithm>
#include <set>
#include <vector>

#include "vm/device/called_in_body.hpp"
#include "vm/device/launch_kernel.hpp"

namespace raddle::vm {

namespace {

/// All that a call of the kernel may call, at any depth.
std::set<KernelId> called_by(const Program& program, KernelId first) {
  std::set<KernelId> called;
  std::vector<KernelId> next = {first};
  while (!next.empty()) {
    const Kernel& kernel = program.kernels[next.back()];
    next.pop_back();
    visit_callees(kernel, [&](KernelId callee) {
      if (called.insert(callee).second) next.push_back(callee);
    });
  }
  return called;
}

/// What is called for a point.
std::vector<FunctionId> parts_of(const ForeachSite& site) {
  std::vector<FunctionId> parts = {site.launch.leaf, site.launch.projection, site.nest.prelude};
  std::erase(parts, no_id);
  return parts;
}

std::string obstacle_of_kernel(const Program& program, KernelId first) {
  if (!program.kernels[first].exists()) return "what it computes is no kernel";
  std::set<KernelId> kernels = called_by(program, first);
  kernels.insert(first);
  for (const KernelId id : kernels) {
    const Kernel& kernel = program.kernels[id];
    if (called_by(program, id).contains(id)) return "`" + kernel.name + "` calls itself";
    if (std::ranges::any_of(kernel.reductions, needs_deviation, &KernelReduction::reducer))
      return "its points compute the deviation of many numbers each";
    if (kernel.has_own_arrays()) return "its points work with arrays of their own";
    if (!kernel.foreign_calls.empty()) return "`" + kernel.foreign_calls.front().symbol + "` is a function in C";
  }
  return "";
}

Placement placement_among(const Program& program, const std::set<FunctionId>& called, Placement found) {
  for (const FunctionId id : called)
    if (found != Placement::cpu && program.functions[id].placement != Placement::any)
      found = program.functions[id].placement;
  return found;
}

}  // namespace

bool walks(const ForeachSite& site) {
  return site.is_nest() || (site.launch.is_projected() && !site.launch.is_contiguous(1));
}

Placement placement_of(const Program& program, const ForeachSite& site) {
  return placement_among(program, functions_called_by(program, site), site.placement);
}

Placement placement_of(const Program& program, FunctionId function) {
  return placement_among(program, called_by(program, function), program.functions[function].placement);
}

std::set<FunctionId> functions_called_by(const Program& program, const ForeachSite& site) {
  std::set<FunctionId> all;
  for (const FunctionId part : parts_of(site)) {
    all.insert(part);
    all.merge(called_by(program, part));
  }
  return all;
}

std::string obstacle_of(const Program& program, const ForeachSite& site) {
  if (!site.is_launch() && !site.is_nest()) {
    const std::string why = no_kernel_in(program, site.body);
    return why.empty() ? "its iterations do more than compute numbers" : why;
  }
  if (site.is_nest() && site.nest.is_chained) return "its points read what others of them write";
  if (walks(site))
    if (std::string why = obstacle_of_walking(site); !why.empty()) return why;
  if (placement_of(program, site) == Placement::cpu) return "`@cpu` says so";
  for (const FunctionId part : parts_of(site))
    if (std::string why = obstacle_of_kernel(program, part); !why.empty()) return why;
  if (site.is_nest() && program.functions[site.nest.prelude].is_heavy)
    return "what it computes for each inner loop takes long";
  return "";
}

std::string obstacle_of(const Program& program, FunctionId leaf) {
  if (placement_of(program, leaf) == Placement::cpu) return "`@cpu` says so";
  return obstacle_of_kernel(program, leaf);
}

}  // namespace raddle::vm
