#include "compiler/emit/partition_strands.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace raddle::emit {

namespace {

/// A set of (variable, mode), sorted.
using Key = std::vector<std::uint64_t>;
using Known = std::vector<bool>;  ///< by variable: set whenever the region is entered

std::uint64_t element(Awaited input) {
  return static_cast<std::uint64_t>(input.variable) << 2 | static_cast<std::uint64_t>(input.mode);
}

Key merged(const Key& a, const Key& b) {
  Key result;
  std::ranges::set_union(a, b, std::back_inserter(result));
  return result;
}

/// Orders 0..n-1 so that each follows those it needs, then as far as possible those it would like to follow; else by
/// number. A cycle of needs is broken at its lowest number.
class Ordering {
 public:
  explicit Ordering(std::size_t count) : needs_(count), wishes_(count), edges_(count) {}

  void add(std::uint32_t before, std::uint32_t after, bool needed) {
    if (before == after) return;
    edges_[before].push_back({after, needed});
    ++(needed ? needs_ : wishes_)[after];
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < needs_.size(); ++i) enlist(i);
    std::vector<std::uint32_t> order;
    std::vector<bool> done(needs_.size(), false);
    while (order.size() < needs_.size()) {
      const std::uint32_t next = take();
      done[next] = true;
      order.push_back(next);
      for (const Edge& edge : edges_[next]) {
        if (done[edge.after]) continue;
        set_of(edge.after).erase(edge.after);
        --(edge.needed ? needs_ : wishes_)[edge.after];
        enlist(edge.after);
      }
    }
    return order;
  }

 private:
  struct Edge {
    std::uint32_t after;
    bool needed;
  };
  std::set<std::uint32_t>& set_of(std::uint32_t i) {
    if (needs_[i] > 0) return blocked_;
    return wishes_[i] > 0 ? possible_ : free_;
  }
  void enlist(std::uint32_t i) { set_of(i).insert(i); }
  std::uint32_t take() {
    std::set<std::uint32_t>& from = !free_.empty() ? free_ : !possible_.empty() ? possible_ : blocked_;
    return from.extract(from.begin()).value();
  }

  std::vector<std::uint32_t> needs_, wishes_;
  std::vector<std::vector<Edge>> edges_;
  std::set<std::uint32_t> free_, possible_, blocked_;
};

class Partitioner {
 public:
  explicit Partitioner(FunctionPlan& plan) : plan_(plan) {}

  void run() {
    partition(0, Known(plan_.variables.size(), false));
    find_positions();
    for (ir::VarId id = 0; id < plan_.variables.size(); ++id) plan_.variables[id].is_private = is_private(id);
  }

 private:
  static constexpr std::uint32_t unset = ~0u;

  /// The step of this region that makes `variable` at once; `unset` if it is a root here.
  std::uint32_t maker(PlanId id, ir::VarId variable) const {
    const std::vector<StepRef>& assigned = plan_.variables[variable].assigned_by;
    if (assigned.size() != 1 || assigned[0].region != id) return unset;
    return plan_.regions[id].steps[assigned[0].step].synchronous ? assigned[0].step : unset;
  }

  void partition(PlanId id, const Known& known) {
    keys_.assign(plan_.regions[id].steps.size(), {});
    visits_.assign(keys_.size(), Visit::none);
    for (std::uint32_t i = 0; i < keys_.size(); ++i) find_key(id, i, known);
    group(id);
    order_strands(id);
    RegionPlan& region = plan_.regions[id];
    for (StrandPlan& strand : region.strands) find_awaited(id, strand, known);
    for (std::uint32_t s = 0; s < plan_.regions[id].strands.size(); ++s) enter_nested(id, s, known);
  }

  // --- keys

  enum class Visit : std::uint8_t { none, open, done };

  /// Depth-first over steps that make each other's inputs; without recursion: a region may be a long chain.
  void find_key(PlanId id, std::uint32_t start, const Known& known) {
    std::vector<std::uint32_t> stack{start};
    while (!stack.empty()) {
      const std::uint32_t current = stack.back();
      if (visits_[current] == Visit::done) {
        stack.pop_back();
        continue;
      }
      const bool again = visits_[current] == Visit::open;
      visits_[current] = Visit::open;
      bool complete = true;
      Key key;
      for (const Awaited& input : plan_.regions[id].steps[current].awaited) {
        if (input.mode == vm::AwaitMode::set && known[input.variable]) continue;
        const std::uint32_t from = input.mode == vm::AwaitMode::set ? maker(id, input.variable) : unset;
        if (from != unset && visits_[from] == Visit::none) {
          stack.push_back(from);
          complete = false;
        } else if (from != unset && visits_[from] == Visit::done) {
          key = merged(key, keys_[from]);
        } else if (from == unset || again) {  // `again`: a cycle in the script: never goes, and is diagnosed then
          key = merged(key, {element(input)});
        } else {
          complete = false;
        }
      }
      if (!complete) continue;
      keys_[current] = std::move(key);
      visits_[current] = Visit::done;
      stack.pop_back();
    }
  }

  void group(PlanId id) {
    RegionPlan& region = plan_.regions[id];
    region.strand_of.assign(region.steps.size(), 0);
    std::map<Key, std::uint32_t> by_key;
    for (std::uint32_t i = 0; i < region.steps.size(); ++i) {
      std::uint32_t strand = static_cast<std::uint32_t>(region.strands.size());
      if (!region.steps[i].alone) strand = by_key.try_emplace(keys_[i], strand).first->second;
      if (strand == region.strands.size()) region.strands.emplace_back();
      region.strands[strand].steps.push_back(i);
      region.strand_of[i] = strand;
    }
  }

  // --- order

  /// Calls visit(maker step, needed) for every step of the region that assigns something `step` reads.
  template <typename Visitor>
  void visit_makers(PlanId id, const Step& step, const Visitor& visit) const {
    const auto all = [&](ir::VarId variable, bool awaited) {
      for (const std::uint32_t from : assigners_.contains(variable) ? assigners_.at(variable) : none_) {
        visit(from, awaited && maker(id, variable) == from);
      }
    };
    for (const Awaited& input : step.awaited) all(input.variable, true);
    for (const ir::VarId variable : step.passed) all(variable, false);
    for (const ir::VarId variable : step.nested_reads) all(variable, false);
  }

  void order_strands(PlanId id) {
    RegionPlan& region = plan_.regions[id];
    assigners_.clear();
    for (std::uint32_t i = 0; i < region.steps.size(); ++i) {
      for (const ir::VarId variable : region.steps[i].results) assigners_[variable].push_back(i);
      for (const ir::VarId variable : region.steps[i].nested_assigned) assigners_[variable].push_back(i);
    }
    Ordering strands(region.strands.size());
    const std::uint32_t last = last_strand(region);
    for (std::uint32_t i = 0; i < region.steps.size(); ++i) {
      const std::uint32_t own = region.strand_of[i];
      visit_makers(id, region.steps[i],
                   [&](std::uint32_t from, bool) { strands.add(region.strand_of[from], own, false); });
    }
    if (last != unset) {  // the next iteration starts when all else of this one has been looked at
      for (std::uint32_t s = 0; s < region.strands.size(); ++s) strands.add(s, last, true);
    }
    std::vector<StrandPlan> ordered;
    for (const std::uint32_t s : strands.run()) ordered.push_back(std::move(region.strands[s]));
    region.strands = std::move(ordered);
    for (std::uint32_t s = 0; s < region.strands.size(); ++s) {
      for (const std::uint32_t step : region.strands[s].steps) region.strand_of[step] = s;
    }
    for (StrandPlan& strand : region.strands) order_steps(id, strand);
  }

  static std::uint32_t last_strand(const RegionPlan& region) {
    for (std::uint32_t i = 0; i < region.steps.size(); ++i) {
      if (region.steps[i].kind == StepKind::loop_test) return region.strand_of[i];
    }
    return unset;
  }

  void order_steps(PlanId id, StrandPlan& strand) {
    const RegionPlan& region = plan_.regions[id];
    std::unordered_map<std::uint32_t, std::uint32_t> position;
    for (std::uint32_t i = 0; i < strand.steps.size(); ++i) position[strand.steps[i]] = i;
    Ordering steps(strand.steps.size());
    for (std::uint32_t i = 0; i < strand.steps.size(); ++i) {
      const Step& step = region.steps[strand.steps[i]];
      visit_makers(id, step, [&](std::uint32_t from, bool needed) {
        if (position.contains(from)) steps.add(position[from], i, needed);
      });
      if (step.kind != StepKind::loop_test) continue;
      for (std::uint32_t other = 0; other < i; ++other) steps.add(other, i, true);
      for (std::uint32_t other = i + 1; other < strand.steps.size(); ++other) steps.add(other, i, true);
    }
    std::vector<std::uint32_t> ordered;
    for (const std::uint32_t i : steps.run()) ordered.push_back(strand.steps[i]);
    strand.steps = std::move(ordered);
  }

  // --- what is awaited

  void find_awaited(PlanId id, StrandPlan& strand, const Known& known) const {
    const RegionPlan& region = plan_.regions[id];
    std::set<ir::VarId> made;
    for (const std::uint32_t i : strand.steps) {
      const Step& step = region.steps[i];
      for (const Awaited& input : step.awaited) {
        const bool there = known[input.variable] || made.contains(input.variable);
        if (input.mode == vm::AwaitMode::set && there) continue;
        add_awaited(strand.awaited, input);
      }
      if (!step.synchronous) continue;
      for (const ir::VarId variable : step.results) {
        if (maker(id, variable) == i) made.insert(variable);
      }
    }
  }

  static void add_awaited(std::vector<Awaited>& list, Awaited input) {
    for (Awaited& each : list) {
      if (each.variable != input.variable) continue;
      each.mode = std::max(each.mode, input.mode);
      return;
    }
    list.push_back(input);
  }

  void enter_nested(PlanId id, std::uint32_t s, const Known& known) {
    const RegionPlan& region = plan_.regions[id];
    if (std::ranges::all_of(region.strands[s].steps, [&](std::uint32_t i) { return region.steps[i].regions.empty(); }))
      return;  // what is known is copied for each strand otherwise
    Known inner = known;
    const StrandPlan strand = plan_.regions[id].strands[s];  // a copy: vectors may move
    for (const Awaited& input : strand.awaited) inner[input.variable] = true;
    for (const std::uint32_t i : strand.steps) {
      const Step step = plan_.regions[id].steps[i];
      for (const PlanId nested : step.regions) {
        Known own = inner;
        add_parameters(step, own);
        partition(nested, own);
      }
      if (!step.synchronous) continue;
      for (const ir::VarId variable : step.results) {
        if (maker(id, variable) == i) inner[variable] = true;
      }
    }
  }

  /// Values and keys of ranges are there; an array's elements may be unset.
  void add_parameters(const Step& step, Known& known) const {
    if (step.kind != StepKind::op) return;
    const bool is_range = step.op->kind == ir::OpKind::foreach_range;
    if (!is_range && step.op->kind != ir::OpKind::foreach_array) return;
    const std::vector<ir::VarId>& parameters = plan_.bodies[plan_.regions[step.regions[0]].body].slots;
    const std::vector<ir::VarId>& declared = plan_.function->regions[step.op->regions[0]].parameters;
    for (std::size_t i = is_range ? 0 : 1; i < declared.size(); ++i) known[parameters[i]] = true;
  }

  // --- private variables

  void find_positions() {
    for (const RegionPlan& region : plan_.regions) {
      std::vector<std::uint32_t>& positions = positions_.emplace_back(region.steps.size());
      for (const StrandPlan& strand : region.strands)
        for (std::uint32_t i = 0; i < strand.steps.size(); ++i) positions[strand.steps[i]] = i;
    }
  }

  /// All readers come later in the strand that makes it, or are nested in such.
  bool is_private(ir::VarId id) const {
    const VariablePlan& variable = plan_.variables[id];
    if (variable.is_output || variable.assigned_by.size() != 1) return false;
    const StepRef own = variable.assigned_by[0];
    if (maker(own.region, id) == unset || variable.region != own.region) return false;
    const std::vector<std::uint32_t>& strand_of = plan_.regions[own.region].strand_of;
    const std::vector<std::uint32_t>& positions = positions_[own.region];
    return std::ranges::all_of(variable.read_by, [&](StepRef reader) {
      while (reader.region != own.region && reader.region != ir::none) {
        reader = {plan_.regions[reader.region].parent, plan_.regions[reader.region].parent_step};
      }
      return reader.region == own.region && strand_of[reader.step] == strand_of[own.step] &&
             positions[reader.step] > positions[own.step];
    });
  }

  FunctionPlan& plan_;
  std::vector<Key> keys_;
  std::vector<Visit> visits_;
  std::unordered_map<ir::VarId, std::vector<std::uint32_t>> assigners_;  ///< of the present region
  const std::vector<std::uint32_t> none_;
  std::vector<std::vector<std::uint32_t>> positions_;  ///< of the steps of a region, each in its strand
};

}  // namespace

void partition_strands(FunctionPlan& plan) { Partitioner(plan).run(); }

}  // namespace raddle::emit
