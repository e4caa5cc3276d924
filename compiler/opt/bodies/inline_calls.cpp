#include "compiler/opt/bodies/inline_calls.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

constexpr std::size_t most_inlined_operations = 8;

bool can_inline(const ir::Module& module, const ir::Function& function) {
  if (function.kind != ir::FunctionKind::composite || function.demands_leaf) return false;
  if (function.placement != vm::Placement::any) return false;  // loops whose points call it look there
  if (function.regions.size() != 1 || function.file_output_count != 0) return false;
  const std::vector<ir::Op>& ops = function.regions[0].ops;
  if (ops.size() > most_inlined_operations) return false;
  if (!std::ranges::all_of(ops, [&](const ir::Op& op) { return can_not_fail(module, function, op); })) return false;
  // a double assignment is reported in the function, an output that is never set where it is declared
  const std::vector<std::uint32_t> assignments = count_assignments(function);
  const auto once = [&](ir::VarId id) { return assignments[id] == 1; };
  return std::ranges::all_of(function.outputs, once) && std::ranges::all_of(function.regions[0].variables, once);
}

class Inliner {
 public:
  Inliner(const ir::Module& module, ir::Function& caller) : module_(module), caller_(caller) {}

  void run(const std::vector<bool>& inlinable) {
    for (ir::RegionId id = 0; id < caller_.regions.size(); ++id) {
      std::vector<ir::Op> ops;
      for (ir::Op& op : std::exchange(caller_.regions[id].ops, {})) {
        if (op.kind == ir::OpKind::call && inlinable[op.callee] && op.priority.index == ir::none &&
            op.rank.index == ir::none)
          put_body(op, id, ops);
        else
          ops.push_back(std::move(op));
      }
      caller_.regions[id].ops = std::move(ops);
    }
  }

 private:
  void put_body(const ir::Op& call, ir::RegionId region, std::vector<ir::Op>& ops) {
    const ir::Function& callee = module_.functions[call.callee];
    RegionCopier copier(callee, caller_);
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) copier.set(callee.parameters[i], call.operands[i]);
    for (std::size_t i = 0; i < callee.outputs.size(); ++i)
      copier.set(callee.outputs[i], ir::Operand::variable(call.results[i]));
    const std::size_t first_local = caller_.variables.size();
    std::ranges::move(copier.copy(0, region), std::back_inserter(ops));
    for (std::size_t i = first_local; i < caller_.variables.size(); ++i)
      caller_.variables[i].name.clear();  // not a variable of this function's text
  }

  const ir::Module& module_;
  ir::Function& caller_;
};

}  // namespace

void inline_calls(ir::Module& module) {
  std::vector<bool> inlinable;
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id)
    inlinable.push_back(id != module.entry && can_inline(module, module.functions[id]));
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id)
    if (!inlinable[id]) Inliner(module, module.functions[id]).run(inlinable);
}

}  // namespace raddle::opt
