#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vm/device/called_in_body.hpp"
#include "vm/device/launch_kernel.hpp"
#include "vm/program/written_place.hpp"

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

Obstacle obstacle_of_kernel(const Program& program, KernelId first) {
  if (!program.kernels[first].exists()) return {.text = "what it computes is no kernel"};
  std::set<KernelId> kernels = called_by(program, first);
  kernels.insert(first);
  for (const KernelId id : kernels) {
    const Kernel& kernel = program.kernels[id];
    if (called_by(program, id).contains(id)) {
      Obstacle found{.text = "calls itself", .name = kernel.name};
      add_written(program, kernel.place, found.path);
      return found;
    }
    if (std::ranges::any_of(kernel.reductions, needs_deviation, &KernelReduction::reducer))
      return {.text = "its points compute the deviation of many numbers each"};
    if (kernel.has_own_arrays()) return {.text = "its points work with arrays of their own"};
    if (!kernel.foreign_calls.empty()) {
      Obstacle found{.text = "is a function in C", .name = kernel.foreign_calls.front().symbol};
      add_written(program, kernel.place, found.path);
      return found;
    }
  }
  return {};
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

Obstacle obstacle_of(const Program& program, const ForeachSite& site) {
  if (!site.is_launch() && !site.is_nest()) {
    Obstacle why = no_kernel_in(program, site.body);
    return why.empty() ? Obstacle{.text = "its iterations do more than compute numbers"} : why;
  }
  if (site.is_nest() && site.nest.is_chained) return {.text = "its points read what others of them write"};
  if (walks(site))
    if (std::string why = obstacle_of_walking(site); !why.empty()) return {.text = std::move(why)};
  if (placement_of(program, site) == Placement::cpu) return {.text = "`@cpu` says so"};
  for (const FunctionId part : parts_of(site))
    if (Obstacle why = obstacle_of_kernel(program, part); !why.empty()) return why;
  if (site.is_nest() && program.functions[site.nest.prelude].is_heavy)
    return {.text = "what it computes for each inner loop takes long"};
  return {};
}

Obstacle obstacle_of(const Program& program, FunctionId function) {
  if (placement_of(program, function) == Placement::cpu) return {.text = "`@cpu` says so"};
  if (program.functions[function].is_leaf) return obstacle_of_kernel(program, function);
  const BodyId body = program.functions[function].body;
  Obstacle why = body == no_id ? Obstacle() : no_kernel_in(program, body);
  return why.empty() ? Obstacle{.text = "it does more than compute numbers"} : why;
}

bool takes_long(const Program& program, FunctionId function) {
  return program.functions[function].is_leaf ? program.functions[function].is_heavy
                                             : loops_by_itself(program, function);
}

}  // namespace raddle::vm
