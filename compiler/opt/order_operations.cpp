#include "compiler/opt/order_operations.hpp"

#include <queue>
#include <unordered_map>

#include "compiler/opt/uses.hpp"

namespace raddle::opt {

namespace {

void order_region(const ir::Function& function, ir::Region& region) {
  const std::size_t count = region.ops.size();
  std::unordered_map<ir::VarId, std::vector<std::size_t>> writers;
  for (std::size_t i = 0; i < count; ++i)
    for (const ir::VarId assigned : variables_assigned(function, region.ops[i])) writers[assigned].push_back(i);

  std::vector<std::vector<std::size_t>> followers(count);
  std::vector<std::size_t> missing(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    for (const ir::VarId read : variables_read(function, region.ops[i])) {
      const auto found = writers.find(read);
      if (found == writers.end()) continue;
      for (const std::size_t writer : found->second) {
        if (writer == i) continue;
        followers[writer].push_back(i);
        ++missing[i];
      }
    }
  }
  // the first ready one in text order; none ready: a cycle, its first one goes
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<bool> placed(count, false);
  std::vector<ir::Op> ordered;
  ordered.reserve(count);
  std::size_t first_left = 0;
  while (ordered.size() < count) {
    std::size_t next = 0;
    if (!ready.empty()) {
      next = ready.top();
      ready.pop();
      if (placed[next]) continue;
    } else {
      while (placed[first_left]) ++first_left;
      next = first_left;
    }
    placed[next] = true;
    for (const std::size_t follower : followers[next])
      if (--missing[follower] == 0 && !placed[follower]) ready.push(follower);
    ordered.push_back(std::move(region.ops[next]));
  }
  region.ops = std::move(ordered);
}

}  // namespace

void order_operations(ir::Module& module) {
  for (ir::Function& function : module.functions)
    for (ir::Region& region : function.regions) order_region(function, region);
}

}  // namespace raddle::opt
