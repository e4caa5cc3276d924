#include "compiler/opt/order_operations.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/opt/uses.hpp"

namespace raddle::opt {

namespace {

/// What a region's operations wait for: each variable has an edge from all of its writers and one to each reader, so
/// that many writers and many readers of one variable are no trouble.
class Dependencies {
 public:
  Dependencies(const ir::Function& function, const ir::Region& region)
      : missing_(region.ops.size(), 0), assigned_by_(region.ops.size()) {
    for (std::size_t i = 0; i < region.ops.size(); ++i)
      for (const ir::VarId assigned : variables_assigned(function, region.ops[i])) add_writer(assigned, i);
    for (std::size_t i = 0; i < region.ops.size(); ++i)
      for (const ir::VarId read : variables_read(function, region.ops[i])) add_reader(read, i);
  }

  bool is_ready(std::size_t op) const { return missing_[op] == 0; }

  /// Calls `ready` for each operation that waits for nothing any more.
  template <typename Ready>
  void place(std::size_t op, const Ready& ready) {
    for (const ir::VarId assigned : assigned_by_[op]) {
      Variable& variable = variables_.at(assigned);
      --variable.writers_left;
      variable.sum_left -= op;
      // an operation that also reads the variable does not wait for itself
      if (variable.writers_left == 1 && variable.reading_writers.contains(variable.sum_left))
        take_one_from(variable.sum_left, ready);
      if (variable.writers_left == 0)
        for (const std::size_t reader : variable.readers) take_one_from(reader, ready);
    }
  }

 private:
  struct Variable {
    std::size_t writers_left = 0;
    std::size_t sum_left = 0;  ///< of their numbers: it is that of the last one, when there is one left
    std::vector<std::size_t> readers;
    std::unordered_set<std::size_t> reading_writers;
  };

  void add_writer(ir::VarId assigned, std::size_t op) {
    Variable& variable = variables_[assigned];
    ++variable.writers_left;
    variable.sum_left += op;
    assigned_by_[op].push_back(assigned);
  }

  void add_reader(ir::VarId read, std::size_t op) {
    const auto found = variables_.find(read);
    if (found == variables_.end()) return;
    const bool writes_it = std::ranges::binary_search(assigned_by_[op], read);
    if (writes_it && found->second.writers_left == 1) return;
    if (writes_it)
      found->second.reading_writers.insert(op);
    else
      found->second.readers.push_back(op);
    ++missing_[op];
  }

  template <typename Ready>
  void take_one_from(std::size_t op, const Ready& ready) {
    if (--missing_[op] == 0) ready(op);
  }

  std::vector<std::size_t> missing_;  ///< of each operation: how many variables are not complete
  std::unordered_map<ir::VarId, Variable> variables_;
  std::vector<std::vector<ir::VarId>> assigned_by_;  ///< each operation
};

void order_region(const ir::Function& function, ir::Region& region) {
  const std::size_t count = region.ops.size();
  Dependencies dependencies(function, region);
  // the first ready one in text order; none ready: a cycle, its first one goes
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (dependencies.is_ready(i)) ready.push(i);
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
    dependencies.place(next, [&](std::size_t follower) {
      if (!placed[follower]) ready.push(follower);
    });
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
