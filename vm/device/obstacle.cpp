#include "vm/device/obstacle.hpp"

#include <algorithm>
#include <set>
#include <vector>

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

}  // namespace

std::string obstacle_of(const Program& program, const ForeachSite& site) {
  if (site.is_nest()) return "it is a loop around a loop";
  if (!site.is_launch()) return "its iterations do more than compute numbers";
  if (site.launch.is_projected() && !site.launch.is_contiguous(1))
    return "its points read or write elements that do not follow each other";
  const KernelId leaf = site.launch.leaf;
  if (!program.kernels[leaf].exists()) return "what it computes is no kernel";
  std::set<KernelId> kernels = called_by(program, leaf);
  kernels.insert(leaf);
  for (const KernelId id : kernels) {
    const Kernel& kernel = program.kernels[id];
    if (called_by(program, id).contains(id)) return "`" + kernel.name + "` calls itself";
    if (!kernel.reductions.empty()) return "its points reduce many numbers each";
    if (!kernel.foreign_calls.empty()) return "`" + kernel.foreign_calls.front().symbol + "` is a function in C";
  }
  return "";
}

}  // namespace raddle::vm
