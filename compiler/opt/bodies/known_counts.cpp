#include "compiler/opt/bodies/known_counts.hpp"

#include <iterator>
#include <utility>
#include <vector>

#include "compiler/opt/bodies/known_shapes.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// The loops are found before any of them goes, as their bodies move.
void drop_single_loops(ir::Module& module, ir::Function& function) {
  LoopShapes shapes(module, function);
  std::vector<bool> is_single(function.regions.size(), false);
  bool has_some = false;
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      if (op.kind == OpKind::foreach_range && op.is_whole && op.placement == vm::Placement::any &&
          shapes.is_same_int(op.operands[0], op.operands[1]) && shapes.number(op.operands[2]) == 1)
        has_some = is_single[op.regions[0]] = true;
  if (!has_some) return;
  const Operand zero = Operand::constant(module.constant(std::int64_t{0}));
  Replacements replacements(function);
  for (ir::RegionId id = 0; id < function.regions.size(); ++id) {
    std::vector<ir::Op> ops;
    // bodies may have such loops themselves
    std::vector<ir::Op> left(std::make_move_iterator(function.regions[id].ops.rbegin()),
                             std::make_move_iterator(function.regions[id].ops.rend()));
    while (!left.empty()) {
      ir::Op op = std::move(left.back());
      left.pop_back();
      if (op.kind != OpKind::foreach_range || !is_single[op.regions[0]]) {
        ops.push_back(std::move(op));
        continue;
      }
      ir::Region& body = function.regions[op.regions[0]];
      replacements.add(body.parameters[0], op.operands[1]);
      if (body.parameters.size() > 1) replacements.add(body.parameters[1], zero);
      for (const ir::Op& inner : body.ops)
        for (const ir::RegionId nested : inner.regions)
          if (function.regions[nested].parent == op.regions[0]) function.regions[nested].parent = id;
      for (const ir::VarId variable : body.variables) {
        function.variables[variable].region = id;
        function.regions[id].variables.push_back(variable);
      }
      left.insert(left.end(), std::make_move_iterator(body.ops.rbegin()), std::make_move_iterator(body.ops.rend()));
      body = {};
    }
    function.regions[id].ops = std::move(ops);
  }
  replacements.apply(function);
}

}  // namespace

void use_known_counts(ir::Module& module) {
  for (ir::Function& function : module.functions) {
    take_branches_of_equal_extents(module, function);
    drop_single_loops(module, function);
  }
}

}  // namespace raddle::opt
