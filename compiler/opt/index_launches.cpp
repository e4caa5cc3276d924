#include "compiler/opt/index_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/opt/infer_leaves.hpp"
#include "compiler/opt/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// Makes the function of one loop's iterations.
class Outliner {
 public:
  Outliner(const ir::Module& module, const ir::Function& around, const ir::Op& loop)
      : module_(module), around_(around), loop_(loop), body_(around.regions[loop.regions[0]]) {}

  /// @return none if the loop can not be an index launch, whatever the rest of its body computes
  std::optional<ir::Function> run() {
    collect_declared(loop_.regions[0]);
    for (const ir::Op& op : body_.ops)
      if (is_insert(op)) inserts_.push_back(&op);
    if (inserts_.empty() || counter_is_read() || reads_what_it_writes()) return std::nullopt;
    made_.name = fmt::format("{}.launch.{}", around_.name, module_.functions.size());
    made_.span = loop_.span;
    made_.regions.emplace_back();
    made_.parameters.push_back(take_over(body_.parameters[0], 0));
    copy_region(loop_.regions[0], 0);
    for (const ir::Op* insert : inserts_) add_output(*insert);
    return std::move(made_);
  }
  const std::vector<ir::Operand>& captures() const { return captures_; }

 private:
  void collect_declared(ir::RegionId id) {
    const ir::Region& region = around_.regions[id];
    declared_.insert(region.parameters.begin(), region.parameters.end());
    declared_.insert(region.variables.begin(), region.variables.end());
    for (const ir::Op& op : region.ops)
      for (const ir::RegionId nested : op.regions) collect_declared(nested);
  }

  /// `A[i] = value` with an array from outside.
  bool is_insert(const ir::Op& op) const {
    return op.kind == OpKind::array_insert && !declared_.contains(op.operands[0].index) &&
           op.operands[1] == ir::Operand::variable(body_.parameters[0]);
  }

  /// The second parameter counts iterations: what runs natively has none.
  bool counter_is_read() const {
    if (body_.parameters.size() < 2) return false;
    const std::vector<ir::VarId> read = variables_read(around_, loop_);
    return std::ranges::find(read, body_.parameters[1]) != read.end();
  }

  /// An element may depend on others of the same loop: only dataflow finds an order.
  bool reads_what_it_writes() const {
    return std::ranges::any_of(inserts_, [&](const ir::Op* insert) {
      const ir::VarId array = insert->operands[0].index;
      return std::ranges::any_of(body_.ops, [&](const ir::Op& op) {
        if (is_insert(op)) return false;
        const std::vector<ir::VarId> read = variables_read(around_, op);
        return std::ranges::find(read, array) != read.end();
      });
    });
  }

  ir::VarId take_over(ir::VarId id, ir::RegionId region) {
    const auto [found, is_new] = here_.try_emplace(id, static_cast<ir::VarId>(made_.variables.size()));
    if (is_new) {
      made_.variables.push_back(around_.variables[id]);
      made_.variables.back().region = region;
    }
    return found->second;
  }

  ir::Operand translate(ir::Operand operand) {
    if (operand.is_constant || operand.index == ir::none) return operand;
    if (!here_.contains(operand.index)) {
      made_.parameters.push_back(take_over(operand.index, 0));
      captures_.push_back(operand);
    }
    return ir::Operand::variable(here_.at(operand.index));
  }

  void copy_region(ir::RegionId from, ir::RegionId to) {
    for (const ir::VarId variable : around_.regions[from].variables)
      made_.regions[to].variables.push_back(take_over(variable, to));
    for (const ir::Op& op : around_.regions[from].ops) {
      if (from == loop_.regions[0] && is_insert(op)) continue;
      ir::Op copy = op;
      copy.regions.clear();
      visit_operands(copy, [this](ir::Operand& operand) {
        if (!is_of_nested(operand)) operand = translate(operand);
      });
      for (ir::VarId& result : copy.results)
        if (result != ir::none) result = translate(ir::Operand::variable(result)).index;
      copy_nested(op, copy, to);
      made_.regions[to].ops.push_back(std::move(copy));
    }
  }

  /// A loop's test and next values are variables of its own regions, which are not copied yet.
  bool is_of_nested(ir::Operand operand) const {
    return !operand.is_constant && declared_.contains(operand.index) && !here_.contains(operand.index);
  }

  void copy_nested(const ir::Op& op, ir::Op& copy, ir::RegionId around) {
    for (const ir::RegionId nested : op.regions) {
      const auto id = static_cast<ir::RegionId>(made_.regions.size());
      const bool is_loop_body = op.kind == OpKind::loop && copy.regions.size() == 1;
      made_.regions.emplace_back().parent = is_loop_body ? copy.regions[0] : around;
      copy.regions.push_back(id);
      for (const ir::VarId parameter : around_.regions[nested].parameters)
        made_.regions[id].parameters.push_back(take_over(parameter, id));
      copy_region(nested, id);
    }
    if (op.kind != OpKind::loop) return;
    copy.condition = translate(op.condition);
    copy.nexts.clear();
    for (const ir::Operand next : op.nexts) copy.nexts.push_back(translate(next));
  }

  void add_output(const ir::Op& insert) {
    const ir::Operand value = insert.operands[2];
    const auto output = static_cast<ir::VarId>(made_.variables.size());
    made_.variables.push_back({"", ir::type_of(module_, around_, value), insert.span, 0});
    made_.outputs.push_back(output);
    ir::Op copy;
    copy.span = insert.span;
    copy.operands = {translate(value)};
    copy.results = {output};
    made_.regions[0].ops.push_back(std::move(copy));
  }

  const ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  const ir::Region& body_;
  std::set<ir::VarId> declared_;  ///< by the loop's regions
  std::vector<const ir::Op*> inserts_;
  std::map<ir::VarId, ir::VarId> here_;  ///< variables of the function around, in the one made
  std::vector<ir::Operand> captures_;
  ir::Function made_;
};

void find_in(ir::Module& module, ir::FunctionId id) {
  for (ir::RegionId region = 0; region < module.functions[id].regions.size(); ++region) {
    for (std::size_t i = 0; i < module.functions[id].regions[region].ops.size(); ++i) {
      ir::Op& op = module.functions[id].regions[region].ops[i];
      if (op.kind != OpKind::foreach_range) continue;
      if (type_of(module, module.functions[id], op.operands[0]) != TypeStore::int_) continue;
      Outliner outliner(module, module.functions[id], op);
      std::optional<ir::Function> made = outliner.run();
      if (!made || !can_be_leaf(module, *made)) continue;
      made->kind = ir::FunctionKind::leaf;
      made->is_launched = true;
      op.callee = static_cast<ir::FunctionId>(module.functions.size());
      op.captures = outliner.captures();
      module.functions.push_back(std::move(*made));  // a deque: `op` stays where it is
    }
  }
}

}  // namespace

void find_index_launches(ir::Module& module) {
  const std::size_t count = module.functions.size();
  for (ir::FunctionId id = 0; id < count; ++id)
    if (module.functions[id].kind == ir::FunctionKind::composite) find_in(module, id);
}

}  // namespace raddle::opt
