#include "compiler/lower/await_updates.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "stdlib/builtin_names.hpp"

namespace raddle::lowering {
namespace {

using ir::Operand;
using ir::OpKind;

/// A variable of a function.
using Place = std::pair<ir::FunctionId, ir::VarId>;

class UpdateWaits {
 public:
  explicit UpdateWaits(ir::Module& module)
      : module_(module), array_type_(module.types->array_of(TypeStore::int_, TypeStore::int_)) {}

  void run() {
    find_awaited();
    if (awaited_.empty()) return;
    for (ir::FunctionId id = 0; id < module_.functions.size(); ++id) add_arrays(id);
    for (ir::FunctionId id = 0; id < module_.functions.size(); ++id)
      for (ir::RegionId region = 0; region < module_.functions[id].regions.size(); ++region) hold(id, region);
  }

 private:
  struct Arrays {
    ir::VarId all;  ///< closed when all updates are done
    ir::VarId own;  ///< held open by those of this function
  };

  bool is_updateable(ir::FunctionId id, Operand operand) const {
    return !operand.is_constant && operand.index != ir::none &&
           module_.functions[id].variables[operand.index].type == TypeStore::updateable;
  }

  template <typename Visit>
  void for_each_op(const Visit& visit) const {
    for (ir::FunctionId id = 0; id < module_.functions.size(); ++id)
      for (const ir::Region& region : module_.functions[id].regions)
        for (const ir::Op& op : region.ops) visit(id, op);
  }

  void find_awaited() {
    std::multimap<Place, Place> same;  // given from one to the other, in both directions
    std::vector<Place> open;
    for_each_op([&](ir::FunctionId id, const ir::Op& op) {
      const bool waits = op.kind == OpKind::wait || op.kind == OpKind::wait_deep;
      for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (!is_updateable(id, op.operands[i])) continue;
        const Place place{id, op.operands[i].index};
        if (waits) open.push_back(place);
        if (op.kind != OpKind::call) continue;
        const Place formal{op.callee, module_.functions[op.callee].parameters[i]};
        same.emplace(place, formal);
        same.emplace(formal, place);
      }
    });
    while (!open.empty()) {
      const Place place = open.back();
      open.pop_back();
      if (!awaited_.insert(place).second) continue;
      const auto [first, end] = same.equal_range(place);
      for (auto each = first; each != end; ++each) open.push_back(each->second);
    }
  }

  ir::VarId new_variable(ir::FunctionId id, ir::VarId like, TypeId type) {
    ir::Function& function = module_.functions[id];
    ir::Var variable = function.variables[like];
    variable.type = type;
    function.variables.push_back(std::move(variable));
    return static_cast<ir::VarId>(function.variables.size() - 1);
  }

  /// An array without writers so far, in the region of `like`.
  ir::VarId new_array(ir::FunctionId id, ir::VarId like) {
    const ir::VarId array = new_variable(id, like, array_type_);
    const ir::Var& variable = module_.functions[id].variables[array];
    ir::Op make;
    make.kind = OpKind::array_new;
    make.results = {array};
    make.span = variable.span;
    ir::Region& region = module_.functions[id].regions[variable.region];
    region.variables.push_back(array);
    region.ops.insert(region.ops.begin(), std::move(make));
    return array;
  }

  void add_arrays(ir::FunctionId id) {
    const std::vector<ir::VarId> parameters = module_.functions[id].parameters;
    for (const ir::VarId parameter : parameters) {
      if (id == module_.entry) break;  // of earlier entries of a session, whose updates nobody waits for
      if (!awaited_.contains({id, parameter})) continue;
      const Arrays arrays{new_variable(id, parameter, array_type_), new_array(id, parameter)};
      module_.functions[id].parameters.push_back(arrays.all);
      arrays_[{id, parameter}] = arrays;
      add_done(id, arrays.own);
    }
    for (auto place = awaited_.lower_bound({id, 0}); place != awaited_.end() && place->first == id; ++place) {
      if (arrays_.contains(*place)) continue;
      const ir::VarId array = new_array(id, place->second);
      arrays_[*place] = {array, array};
    }
  }

  /// The output that is set when the function's own updates are done.
  void add_done(ir::FunctionId id, ir::VarId own) {
    const ir::VarId done = new_variable(id, own, TypeStore::void_);
    ir::Function& function = module_.functions[id];
    function.outputs.push_back(done);
    ir::Op set;
    set.kind = OpKind::call_builtin;
    set.results = {done};
    set.callee = stdlib::find_builtin("propagate").value();
    set.span = function.variables[done].span;
    ir::Op wait;
    wait.kind = OpKind::wait;
    wait.operands = {Operand::variable(own)};
    wait.span = set.span;
    wait.regions = {static_cast<ir::RegionId>(function.regions.size())};
    function.regions.emplace_back().parent = 0;
    function.regions.back().ops.push_back(std::move(set));
    function.regions[0].ops.push_back(std::move(wait));
  }

  void hold(ir::FunctionId id, ir::RegionId region) {
    std::vector<ir::Op> ops;
    for (ir::Op& op : std::exchange(module_.functions[id].regions[region].ops, {})) {
      std::vector<ir::Op> holds;
      if (op.kind == OpKind::update) add_hold(id, op, op.operands[0].index, op.results[0], holds);
      if (op.kind == OpKind::wait || op.kind == OpKind::wait_deep)
        for (Operand& operand : op.operands)
          if (is_updateable(id, operand)) operand = Operand::variable(arrays_.at({id, operand.index}).all);
      if (op.kind == OpKind::call) add_arguments(id, region, op, holds);
      ops.push_back(std::move(op));
      std::ranges::move(holds, std::back_inserter(ops));
    }
    module_.functions[id].regions[region].ops = std::move(ops);
  }

  void add_hold(ir::FunctionId id, const ir::Op& op, ir::VarId updateable, ir::VarId done, std::vector<ir::Op>& holds) {
    const auto arrays = arrays_.find({id, updateable});
    if (arrays == arrays_.end()) return;
    ir::Op& hold = holds.emplace_back();
    hold.kind = OpKind::array_hold;
    hold.operands = {Operand::variable(arrays->second.own), Operand::variable(done)};
    hold.span = op.span;
  }

  void add_arguments(ir::FunctionId id, ir::RegionId region, ir::Op& call, std::vector<ir::Op>& holds) {
    const std::size_t count = call.operands.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_updateable(id, call.operands[i])) continue;
      const ir::VarId updateable = call.operands[i].index;
      const auto arrays = arrays_.find({id, updateable});
      if (arrays == arrays_.end()) continue;
      ir::Function& function = module_.functions[id];
      function.variables.push_back({"", TypeStore::void_, call.span, region});
      const auto done = static_cast<ir::VarId>(function.variables.size() - 1);
      function.regions[region].variables.push_back(done);
      call.operands.push_back(Operand::variable(arrays->second.all));
      call.results.push_back(done);
      add_hold(id, call, updateable, done, holds);
    }
  }

  ir::Module& module_;
  const TypeId array_type_;
  std::set<Place> awaited_;
  std::map<Place, Arrays> arrays_;
};

}  // namespace

void await_updates(ir::Module& module) { UpdateWaits(module).run(); }

}  // namespace raddle::lowering
