#include "compiler/opt/bodies/order_operations.hpp"

#include <algorithm>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

/// Of an operation with its nested regions: each once, sorted.
struct Uses {
  std::vector<ir::VarId> assigned, read;
};

/// What a region's operations wait for: each variable has an edge from all of its writers and one to each reader, so
/// that many writers and many readers of one variable are no trouble.
class Dependencies {
 public:
  explicit Dependencies(const std::vector<Uses>& uses) : missing_(uses.size(), 0), assigned_by_(uses.size()) {
    for (std::size_t i = 0; i < uses.size(); ++i)
      for (const ir::VarId assigned : uses[i].assigned) add_writer(assigned, i);
    for (std::size_t i = 0; i < uses.size(); ++i)
      for (const ir::VarId read : uses[i].read) add_reader(read, i);
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

/// The numbers of operations with these uses, sorted: the first ready one in their order, and where none is ready, as
/// of a cycle, `first_of_cycle(placed)`.
std::vector<std::size_t> sorted(const std::vector<Uses>& uses, auto&& first_of_cycle) {
  Dependencies dependencies(uses);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (dependencies.is_ready(i)) ready.push(i);
  std::vector<bool> placed(uses.size(), false);
  std::vector<std::size_t> order;
  while (order.size() < uses.size()) {
    std::size_t next = 0;
    if (!ready.empty()) {
      next = ready.top();
      ready.pop();
      if (placed[next]) continue;
    } else {
      next = first_of_cycle(placed);
    }
    placed[next] = true;
    dependencies.place(next, [&](std::size_t follower) {
      if (!placed[follower]) ready.push(follower);
    });
    order.push_back(next);
  }
  return order;
}

void order_region(const ir::Function& function, ir::Region& region) {
  std::vector<Uses> uses;
  for (const ir::Op& op : region.ops) uses.push_back({variables_assigned(function, op), variables_read(function, op)});
  std::vector<ir::Op> ordered;
  std::size_t first_left = 0;
  const auto first = [&](const std::vector<bool>& placed) {
    while (placed[first_left]) ++first_left;
    return first_left;
  };
  for (const std::size_t next : sorted(uses, first)) ordered.push_back(std::move(region.ops[next]));
  region.ops = std::move(ordered);
}

/// What puts something into an array or a structure assigns it.
Uses uses_of_data(const ir::Function& function, const ir::Op& op) {
  std::set<ir::VarId> assigned, read;
  visit_nested(function, op, [&](const ir::Op& inner) {
    const bool puts = inner.kind == ir::OpKind::array_insert || inner.kind == ir::OpKind::struct_set;
    if (puts) assigned.insert(inner.operands[0].index);
    assigned.insert(inner.results.begin(), inner.results.end());
    bool is_target = puts;
    visit_operands(inner, [&](const ir::Operand& operand) {
      if (!operand.is_constant && !is_target) read.insert(operand.index);
      is_target = false;
    });
  });
  return {{assigned.begin(), assigned.end()}, {read.begin(), read.end()}};
}

/// Which operations of a region have all their operands, and of these the first one in the text: in a cycle of what is
/// put into an array and read from it, as in loops of which each reads what the others have put there, that is the
/// order that was meant.
class FirstInText {
 public:
  FirstInText(const ir::Function& function, const ir::Region& region) : function_(function), ops_(region.ops) {}

  std::size_t operator()(const std::vector<bool>& placed) {
    if (uses_.empty()) find_uses();
    std::unordered_set<ir::VarId> to_come;
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (!placed[i]) to_come.insert(uses_[i].assigned.begin(), uses_[i].assigned.end());
    std::size_t first = placed.size();
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (!placed[i] && has_operands(i, to_come) && (first == placed.size() || is_before(i, first))) first = i;
    return first < placed.size() ? first : static_cast<std::size_t>(std::ranges::find(placed, false) - placed.begin());
  }

 private:
  /// There are few regions with a cycle.
  void find_uses() {
    for (const ir::Op& op : ops_) {
      uses_.push_back({variables_assigned(function_, op), variables_read(function_, op)});
      std::ranges::sort(uses_.back().assigned);
    }
  }
  bool has_operands(std::size_t op, const std::unordered_set<ir::VarId>& to_come) const {
    return std::ranges::none_of(uses_[op].read, [&](ir::VarId read) {
      return to_come.contains(read) && !std::ranges::binary_search(uses_[op].assigned, read);
    });
  }
  bool is_before(std::size_t one, std::size_t other) const {
    return ops_[one].span.file == ops_[other].span.file && ops_[one].span.begin < ops_[other].span.begin;
  }

  const ir::Function& function_;
  const std::vector<ir::Op>& ops_;
  std::vector<Uses> uses_;
};

}  // namespace

std::vector<const ir::Op*> in_order_of_data(const ir::Function& function, const ir::Region& region) {
  std::vector<Uses> uses;
  for (const ir::Op& op : region.ops) uses.push_back(uses_of_data(function, op));
  std::vector<const ir::Op*> ordered;
  for (const std::size_t next : sorted(uses, FirstInText(function, region))) ordered.push_back(&region.ops[next]);
  return ordered;
}

void order_operations(ir::Module& module) {
  for (ir::Function& function : module.functions)
    for (ir::Region& region : function.regions) order_region(function, region);
}

}  // namespace raddle::opt
