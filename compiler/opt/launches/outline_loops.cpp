#include "compiler/opt/launches/outline_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/opt/launches/index_launches.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

class Outliner {
 public:
  Outliner(ir::Module& module, ir::FunctionId id)
      : module_(module), id_(id), owners_(function().regions.size()), assigned_at_(function().variables.size()) {
    for (ir::RegionId region = 0; region < function().regions.size(); ++region)
      for (std::size_t i = 0; i < function().regions[region].ops.size(); ++i) {
        const ir::Op& op = function().regions[region].ops[i];
        for (const ir::RegionId nested : op.regions) owners_[nested] = {region, i};
        for (const ir::VarId result : op.results) assigned_at_[result].push_back({region, i});
      }
  }

  void run() { look_into(0); }

 private:
  ir::Function& function() { return module_.functions[id_]; }

  void look_into(ir::RegionId region) {
    for (std::size_t i = 0; i < function().regions[region].ops.size(); ++i) {
      const ir::Op& op = function().regions[region].ops[i];
      if (op.kind == OpKind::loop && outline({region, i})) continue;
      if (op.launch != ir::none || op.nest != ir::none) continue;
      for (const ir::RegionId nested : std::vector(op.regions)) look_into(nested);
    }
  }

  /// Whether all that assigns the variable comes before the operation at this place, wherever both are nested.
  bool comes_before(ir::VarId variable, const OpPlace& place) {
    std::vector<OpPlace> path = {place};
    while (path.back().region != 0) path.push_back(owners_[path.back().region]);
    return std::ranges::all_of(assigned_at_[variable], [&](OpPlace at) {
      while (true) {
        const auto same = std::ranges::find(path, at.region, &OpPlace::region);
        if (same != path.end()) return at.index < same->index;
        at = owners_[at.region];
      }
    });
  }

  bool outline(const OpPlace& place) {
    const ir::Op loop = function().regions[place.region].ops[place.index];
    if (loop.results.empty()) return false;
    ir::Function made;
    made.name = fmt::format("{}.loop.{}", function().name, module_.functions.size());
    made.span = loop.span;
    made.regions.emplace_back();
    ir::Op call;
    call.kind = OpKind::call;
    call.callee = static_cast<ir::FunctionId>(module_.functions.size());
    call.span = loop.span;
    call.stream = loop.stream;
    call.results = loop.results;
    RegionCopier copier(function(), made);
    const auto declare = [&](ir::VarId variable) {
      made.variables.push_back({"", function().variables[variable].type, function().variables[variable].span, 0});
      made.variables.back().name = function().variables[variable].name;
      const auto here = static_cast<ir::VarId>(made.variables.size() - 1);
      copier.set(variable, ir::Operand::variable(here));
      return here;
    };
    const std::set<ir::RegionId> own = regions_in(loop);
    for (const ir::VarId read : variables_read(function(), loop)) {
      if (own.contains(function().variables[read].region)) continue;
      if (!comes_before(read, place)) return false;
      made.parameters.push_back(declare(read));
      call.operands.push_back(ir::Operand::variable(read));
    }
    for (const ir::VarId result : loop.results) made.outputs.push_back(declare(result));
    ir::Op copy = copier.copy(loop, 0);
    made.regions[0].ops.push_back(std::move(copy));
    if (!can_be_leaf(module_, made)) return false;
    made.kind = ir::FunctionKind::outlined;
    module_.functions.push_back(std::move(made));
    function().regions[place.region].ops[place.index] = std::move(call);
    return true;
  }

  std::set<ir::RegionId> regions_in(const ir::Op& loop) {
    std::set<ir::RegionId> found;
    visit_nested(function(), loop, [&](const ir::Op& op) { found.insert(op.regions.begin(), op.regions.end()); });
    return found;
  }

  ir::Module& module_;
  const ir::FunctionId id_;
  std::vector<OpPlace> owners_;                    ///< by region: the operation that it belongs to
  std::vector<std::vector<OpPlace>> assigned_at_;  ///< by variable
};

}  // namespace

void outline_loops(ir::Module& module) {
  const std::size_t count = module.functions.size();
  for (ir::FunctionId id = 0; id < count; ++id)
    if (module.functions[id].kind == ir::FunctionKind::composite && !module.functions[id].regions.empty())
      Outliner(module, id).run();
  launch_reduced_loops(module);  // in the loops
}

}  // namespace raddle::opt
