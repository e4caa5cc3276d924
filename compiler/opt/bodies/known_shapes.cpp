#include "compiler/opt/bodies/known_shapes.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/opt/ints/int_sum.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/rewrite/straighten.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// The arrays that the loops of a function carry.
class CarriedShapes {
 public:
  CarriedShapes(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), shapes_(module, function) {
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (is_extent(op)) note_extent(op);
  }

  /// @return true: some keep their shape, and it is used
  bool run() {
    for (around_ = 0; around_ < function_.regions.size(); ++around_)
      for (number_ = 0; number_ < function_.regions[around_].ops.size(); ++number_)
        if (loop().kind == OpKind::loop) find_kept();
    return !kept_.empty() && replace();
  }

 private:
  /// Of the loop at hand.
  void find_kept() {
    shapes_of_.clear();
    number_of_.clear();
    for (std::size_t i = 0; i < carried().size(); ++i)
      if (module_.types->is_dense(type_of(Operand::variable(carried()[i])))) find_first_shape(i);
    while (!shapes_of_.empty()) {
      const auto changes = [&](const auto& each) { return !keeps(each.first); };
      const auto found = std::ranges::find_if(shapes_of_, changes);
      if (found == shapes_of_.end()) break;
      shapes_of_.erase(found);
    }
    for (const auto& [carried, shape] : shapes_of_) {
      kept_.emplace(carried, shape);
      if (!loop().results.empty()) kept_.emplace(loop().results[number_of_.at(carried)], shape);
    }
  }

  ir::Op& loop() { return function_.regions[around_].ops[number_]; }
  const std::vector<ir::VarId>& carried() { return function_.regions[loop().regions[0]].parameters; }
  TypeId type_of(Operand operand) const { return module_.types->base(ir::type_of(module_, function_, operand)); }

  ir::Op made_of(OpKind kind, std::vector<Operand> operands) {
    ir::Op op;
    op.kind = kind;
    op.operands = std::move(operands);
    op.span = loop().span;
    return op;
  }

  /// Extents are variables from outside of the loop: what makes the array has them, or they are taken out of it.
  void find_first_shape(std::size_t number) {
    const Operand array = loop().operands[number];
    if (array.is_constant) return;
    ir::Op shape = made_of(OpKind::struct_make, {{}});
    for (std::uint32_t axis = 1; axis <= module_.types->rank(type_of(array)); ++axis)
      shape.operands.push_back(first_extent(array, axis));
    shapes_of_.emplace(carried()[number], std::move(shape));
    number_of_.emplace(carried()[number], number);
  }

  Operand first_extent(Operand array, std::uint32_t axis) {
    const ir::Op* const made = shapes_.maker_of(array);
    if (made && made->kind == OpKind::struct_make) return made->operands[axis];
    const auto known = extents_.find({array.index, axis});
    if (known != extents_.end() && function_.variables[known->second].region == around_)
      return Operand::variable(known->second);
    const auto made_here = static_cast<ir::VarId>(function_.variables.size());
    function_.variables.push_back({"", TypeStore::int_, loop().span, around_});
    function_.regions[around_].variables.push_back(made_here);
    ir::Op take = made_of(OpKind::struct_get, {array});
    take.results = {made_here};
    take.number = axis;
    note_extent(take);
    std::vector<ir::Op>& ops = function_.regions[around_].ops;
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(number_++), std::move(take));
    shapes_.forget();
    return Operand::variable(made_here);
  }

  void note_extent(const ir::Op& op) {
    extents_.insert_or_assign({op.operands[0].index, static_cast<std::uint32_t>(op.number)}, op.results[0]);
  }
  bool is_extent(const ir::Op& op) const {
    return op.kind == OpKind::struct_get && op.number > 0 && !op.operands[0].is_constant &&
           module_.types->is_dense(type_of(op.operands[0]));
  }

  /// As long as all others do that are taken to.
  bool keeps(ir::VarId carried) {
    const ir::Op& shape = shapes_of_.at(carried);
    ir::Op next = made_of(OpKind::struct_get, {loop().nexts[number_of_.at(carried)]});
    const Operand extent = Operand::variable(static_cast<ir::VarId>(function_.variables.size()));  // of no variable
    const auto maker = [&](Operand operand) -> const ir::Op* {
      if (operand == extent) return &next;
      const auto taken = shapes_of_.find(operand.index);
      return taken != shapes_of_.end() ? &taken->second : shapes_.maker_of(operand);
    };
    for (std::size_t axis = 1; axis < shape.operands.size(); ++axis) {
      next.number = static_cast<std::int64_t>(axis);
      if (ints::int_sum(module_, extent, maker, ints::SumsOf::indices) !=
          ints::int_sum(module_, shape.operands[axis], maker, ints::SumsOf::indices))
        return false;
    }
    return true;
  }

  /// @return  somebody reads the extents
  bool replace() {
    const std::vector<std::uint32_t> reads = count_reads(function_);
    bool has_changed = false;
    Replacements replacements(function_);
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops) {
        if (!is_extent(op) || reads[op.results[0]] == 0) continue;
        const auto found = kept_.find(op.operands[0].index);
        if (found == kept_.end()) continue;
        has_changed |= replacements.add(op.results[0], found->second.operands[static_cast<std::size_t>(op.number)]);
      }
    if (has_changed) replacements.apply(function_);
    return has_changed;
  }

  ir::Module& module_;
  ir::Function& function_;
  ir::RegionId around_ = 0;
  std::size_t number_ = 0;  ///< of the loop in its region
  LoopShapes shapes_;
  std::map<std::pair<ir::VarId, std::uint32_t>, ir::VarId> extents_;  ///< taken out of an array, by its axis from 1 on
  std::map<ir::VarId, ir::Op> kept_;  ///< by what loops carry and end with: as what makes such an array says its shape
  std::map<ir::VarId, ir::Op> shapes_of_;  ///< by what is carried: as what makes such an array says them
  std::map<ir::VarId, std::size_t> number_of_;
};

/// What is taken out of an array that is made here is what was put into it, elements and extents: loops then read what
/// others write.
bool forward_parts(ir::Module& module, ir::Function& function) {
  LoopShapes shapes(module, function);
  const std::vector<std::uint32_t> reads = count_reads(function);
  Replacements replacements(function);
  bool has_changed = false;
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops) {
      if (op.kind != OpKind::struct_get || op.operands[0].is_constant || reads[op.results[0]] == 0 ||
          !module.types->is_dense(module.types->base(ir::type_of(module, function, op.operands[0]))))
        continue;
      const ir::Op* const made = shapes.maker_of(op.operands[0]);
      if (!made || made->kind != OpKind::struct_make) continue;
      has_changed |= replacements.add(op.results[0], made->operands[static_cast<std::size_t>(op.number)]);
    }
  if (has_changed) replacements.apply(function);
  return has_changed;
}

/// Checks that an extent is the one of a formal, where it is the same whenever both are there.
bool drop_sure_checks(ir::Module& module, ir::Function& function) {
  LoopShapes shapes(module, function);
  std::vector<ir::VarId> sure;
  for (const ir::Region& region : function.regions)
    for (const ir::Op& op : region.ops)
      if (shapes.is_builtin(op, "@same_extent") && shapes.maker_of(Operand::variable(op.results[0])) == &op &&
          shapes.is_same_int(op.operands[0], op.operands[1]))
        sure.push_back(op.results[0]);
  if (sure.empty()) return false;
  const auto is_sure = [&](Operand operand) {
    return !operand.is_constant && std::ranges::find(sure, operand.index) != sure.end();
  };
  const Operand nothing = Operand::constant(module.constant(true));
  Replacements replacements(function);
  bool has_changed = false;
  for (ir::Region& region : function.regions) {
    for (ir::Op& op : region.ops) {
      if (op.kind == OpKind::wait) std::ranges::replace_if(op.operands, is_sure, nothing);
      if (!op.results.empty() && is_sure(Operand::variable(op.results[0]))) {
        if (!replacements.add(op.results[0], op.operands[0])) continue;
        has_changed = true;
        op.kind = OpKind::copy;  // for nobody
        op.operands.resize(1);
        op.operand_types.clear();
        op.callee = ir::none;
      }
    }
  }
  replacements.apply(function);
  take_known_branches(module, function);
  return has_changed;
}

/// What asks whether extents are equal, or whether several are.
class EqualExtents {
 public:
  EqualExtents(ir::Module& module, ir::Function& function) : function_(function), shapes_(module, function) {}

  /// @return  what is true
  std::vector<ir::VarId> run() {
    std::vector<ir::VarId> found;
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if ((op.kind == OpKind::eq || op.kind == OpKind::and_) && is_true(Operand::variable(op.results[0])))
          found.push_back(op.results[0]);
    return found;
  }

 private:
  bool is_true(Operand operand) {
    const ir::Op* const op = shapes_.maker_of(operand);
    if (!op) return false;
    if (op->kind == OpKind::and_) return is_true(op->operands[0]) && is_true(op->operands[1]);
    if (op->kind != OpKind::eq || !shapes_.is_same_int(op->operands[0], op->operands[1])) return false;
    const ir::Op* const checked = shapes_.maker_of(op->operands[1]);
    return checked && (shapes_.is_builtin(*checked, "@fits_slice") || shapes_.is_builtin(*checked, "@joint_extent"));
  }

  ir::Function& function_;
  LoopShapes shapes_;
};

}  // namespace

/// As of a part of an array and of what is stored there, or of the operands of `+`: the other branch repeats what has
/// one element. The loops of this one still wait for the check that the extents fit.
void take_branches_of_equal_extents(ir::Module& module, ir::Function& function) {
  const std::vector<ir::VarId> known = EqualExtents(module, function).run();
  if (known.empty()) return;
  Replacements replacements(function);
  for (const ir::VarId id : known) replacements.add(id, Operand::constant(module.constant(true)));
  replacements.apply(function);
  take_known_branches(module, function);
}

void use_known_shapes(ir::Module& module, ir::Function& function) {
  while (forward_parts(module, function) || CarriedShapes(module, function).run() ||
         drop_sure_checks(module, function)) {
  }  // what was checked is known then
  take_branches_of_equal_extents(module, function);
}

void use_known_shapes(ir::Module& module) {
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) use_known_shapes(module, function);
}

}  // namespace raddle::opt
