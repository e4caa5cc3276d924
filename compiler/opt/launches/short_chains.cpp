#include "compiler/opt/launches/short_chains.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/opt/flatten/flat_bodies.hpp"
#include "compiler/opt/launches/loop_kernels.hpp"
#include "compiler/opt/launches/own_iteration.hpp"
#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// Fewer take less time than their kernel takes to be compiled.
constexpr std::int64_t least_rounds = 1000;

/// One of a region.
class ShortChain {
 public:
  ShortChain(ir::Module& module, ir::Function& function, ir::RegionId region, std::size_t loop)
      : module_(module), function_(function), region_(region), loop_(loop), iteration_(module, function, region) {}

  /// @return false: it is none
  bool find() {
    return has_arrays() && find_counter() && !has_loop_kernel(module_, function_, loop(), {}) &&
           iteration_.find_writers({}, loop_) && iteration_.can_be_one();
  }
  /// @return where its iteration is
  OpPlace make() {
    ask_rounds();
    for (const ir::VarId array : iteration_.arrays()) {
      const std::vector<Operand>& extents = iteration_.maker_of(array)->operands;
      ask_few({extents.begin() + 1, extents.end()});
    }
    for (const Operand carried : std::vector(loop().operands)) ask_few(extents_of(carried));
    return iteration_.enclose_if(condition_, std::move(asked_));
  }

 private:
  const ir::Op& loop() const { return function_.regions[region_].ops[loop_]; }

  bool has_arrays() const {
    bool found = false;
    visit_nested(function_, loop(), [&](const ir::Op& op) {
      found = found || op.kind == OpKind::foreach_range || op.kind == OpKind::struct_make;
    });
    return found;
  }

  Operand number(std::int64_t value) { return Operand::constant(module_.constant(value)); }
  Operand ask(OpKind kind, std::vector<Operand> operands, TypeId type) {
    function_.variables.push_back({"", type, loop().span, region_});
    const auto made = static_cast<ir::VarId>(function_.variables.size() - 1);
    function_.regions[region_].variables.push_back(made);
    ir::Op op;
    op.kind = kind;
    op.operands = std::move(operands);
    op.results = {made};
    op.span = loop().span;
    asked_.push_back(std::move(op));
    return Operand::variable(made);
  }
  void ask_too(Operand condition) {
    condition_ =
        condition_.index == ir::none ? condition : ask(OpKind::and_, {condition_, condition}, TypeStore::boolean);
  }
  void ask_few(const std::vector<Operand>& extents) {
    if (extents.empty()) return;
    Operand size = extents[0];
    for (std::size_t i = 1; i < extents.size(); ++i) size = ask(OpKind::index_mul, {size, extents[i]}, TypeStore::int_);
    ask_too(ask(OpKind::le, {size, number(most_chain_elements)}, TypeStore::boolean));
  }
  /// Of a dense array; none: it is something else.
  std::vector<Operand> extents_of(Operand carried) {
    std::vector<Operand> extents;
    const TypeId type = module_.types->base(ir::type_of(module_, function_, carried));
    if (carried.is_constant || !module_.types->is_dense(type)) return extents;
    for (std::size_t i = 1; i < module_.types->structure(type).fields.size(); ++i) {
      extents.push_back(ask(OpKind::struct_get, {carried}, TypeStore::int_));
      asked_.back().number = static_cast<std::int64_t>(i);
    }
    return extents;
  }

  /// Its condition compares a number that it counts with one from outside.
  bool find_counter() {
    if (loop().test_after || loop().condition.is_constant) return false;
    const ir::Op* const test = maker_in(loop().regions[0], loop().condition);
    if (!test || test->operands.size() != 2) return false;
    const bool goes_up = test->kind == OpKind::lt || test->kind == OpKind::le,
               goes_down = test->kind == OpKind::gt || test->kind == OpKind::ge;
    const std::vector<ir::VarId>& parameters = function_.regions[loop().regions[0]].parameters;
    const auto counter =
        test->operands[0].is_constant ? parameters.end() : std::ranges::find(parameters, test->operands[0].index);
    const Operand bound = test->operands[1];
    if ((!goes_up && !goes_down) || counter == parameters.end() || !is_outside(bound)) return false;
    if (function_.variables[*counter].type != TypeStore::int_) return false;
    const auto place = static_cast<std::size_t>(counter - parameters.begin());
    const std::optional<std::int64_t> step = step_of(*counter, loop().nexts[place]);
    if (!step || *step == 0 || (*step > 0) != goes_up) return false;
    step_ = std::abs(*step);
    low_ = goes_up ? loop().operands[place] : bound;
    high_ = goes_up ? bound : loop().operands[place];
    return true;
  }
  void ask_rounds() {
    const Operand least = ask(OpKind::index_add, {low_, number(least_rounds * step_)}, TypeStore::int_);
    ask_too(ask(OpKind::le, {least, high_}, TypeStore::boolean));
  }
  std::optional<std::int64_t> step_of(ir::VarId counter, Operand next) const {
    const ir::Op* const made = maker_in(loop().regions[1], next);
    if (!made || (made->kind != OpKind::add && made->kind != OpKind::sub)) return std::nullopt;
    if (made->operands[0] != Operand::variable(counter) || !made->operands[1].is_constant) return std::nullopt;
    const auto step = std::get<std::int64_t>(module_.constants[made->operands[1].index]);
    constexpr std::int64_t most = 1 << 30;
    if (step > most || step < -most) return std::nullopt;
    return made->kind == OpKind::add ? step : -step;
  }
  const ir::Op* maker_in(ir::RegionId region, Operand operand) const {
    if (operand.is_constant) return nullptr;
    for (const ir::Op& op : function_.regions[region].ops)
      if (std::ranges::find(op.results, operand.index) != op.results.end()) return &op;
    return nullptr;
  }
  bool is_outside(Operand operand) const {
    if (operand.is_constant) return true;
    for (ir::RegionId at = function_.variables[operand.index].region; at != ir::none; at = function_.regions[at].parent)
      if (at == loop().regions[0]) return false;
    return true;
  }

  ir::Module& module_;
  ir::Function& function_;
  const ir::RegionId region_;
  const std::size_t loop_;
  OwnIteration iteration_;
  Operand low_, high_;  ///< between which it counts
  std::int64_t step_ = 0;
  Operand condition_;
  std::vector<ir::Op> asked_;
};

}  // namespace

void launch_short_chains(ir::Module& module, ir::Function& function) {
  std::size_t tries = most_tries(function);
  const std::size_t count = function.regions.size();  // before this makes more
  for (ir::RegionId region = 0; region < count; ++region)
    for (std::size_t i = 0; i < function.regions[region].ops.size() && tries > 0; ++i) {
      if (function.regions[region].ops[i].kind != OpKind::loop || is_in_launch(function, region)) continue;
      --tries;
      ShortChain chain(module, function, region, i);
      if (!chain.find()) continue;
      ir::Function before = function;
      const OpPlace place = chain.make();
      ir::Op& iteration = function.regions[place.region].ops[place.index];
      launch_flat_body(module, function, iteration, /*is_alone=*/true);
      if (iteration.launch != ir::none) continue;
      before.not_launched = std::move(function.not_launched);
      function = std::move(before);
    }
}

}  // namespace raddle::opt
