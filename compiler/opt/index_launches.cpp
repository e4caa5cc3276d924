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
      : module_(module),
        around_(around),
        loop_(loop),
        body_(around.regions[loop.regions[0]]),
        point_(!is_over_array()              ? body_.parameters[0]
               : body_.parameters.size() > 1 ? body_.parameters[1]
                                             : ir::none) {}

  /// @return none if the loop can not be an index launch, whatever the rest of its body computes
  std::optional<ir::Function> run() {
    collect_declared(loop_.regions[0]);
    for (const ir::Op& op : body_.ops)
      if (is_sink(op)) sinks_.push_back(&op);
    if (counter_is_read() || reads_what_it_writes() || assigns_outside()) return std::nullopt;
    made_.name = fmt::format("{}.launch.{}", around_.name, module_.functions.size());
    made_.span = loop_.span;
    made_.is_launched = true;
    made_.regions.emplace_back();
    made_.parameters.push_back(point_ == ir::none ? new_point() : take_over(point_, 0));
    if (is_over_array()) add_element();
    copy_region(loop_.regions[0], 0);
    for (const ir::Op* sink : sinks_) add_output(*sink);
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

  bool is_over_array() const { return loop_.kind == OpKind::foreach_array; }

  /// Where the value of a point goes: `A[i] = value`, `u <incr> := value`, with an array or updateable from outside.
  bool is_sink(const ir::Op& op) const {
    if (op.kind == OpKind::array_insert)
      return point_ != ir::none && !declared_.contains(op.operands[0].index) &&
             op.operands[1] == ir::Operand::variable(point_);
    return op.kind == OpKind::update && !declared_.contains(op.operands[0].index);
  }

  /// The second parameter of a range's body counts iterations: what runs natively has none.
  bool counter_is_read() const {
    if (is_over_array() || body_.parameters.size() < 2) return false;
    const std::vector<ir::VarId> read = variables_read(around_, loop_);
    return std::ranges::find(read, body_.parameters[1]) != read.end();
  }

  /// An element may depend on others of the same loop: only dataflow finds an order.
  bool reads_what_it_writes() const {
    return std::ranges::any_of(sinks_, [&](const ir::Op* sink) {
      const ir::VarId written = sink->operands[0].index;
      return std::ranges::any_of(body_.ops, [&](const ir::Op& op) {
        if (is_sink(op)) return false;
        const std::vector<ir::VarId> read = variables_read(around_, op);
        return std::ranges::find(read, written) != read.end();
      });
    });
  }

  /// Of a loop with more than one iteration that is an error, which only dataflow finds.
  bool assigns_outside() const {
    return std::ranges::any_of(body_.ops, [this](const ir::Op& op) {
      if (is_sink(op)) return false;
      const std::vector<ir::VarId> assigned = variables_assigned(around_, op);
      return !std::ranges::all_of(assigned, [this](ir::VarId variable) { return declared_.contains(variable); });
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

  ir::VarId new_point() {
    made_.variables.push_back({"", TypeStore::int_, loop_.span, 0});
    return static_cast<ir::VarId>(made_.variables.size() - 1);
  }

  /// The loop's variable is the element of the array at the point.
  void add_element() {
    ir::Op get;
    get.kind = OpKind::array_get;
    get.span = loop_.span;
    get.operands = {translate(loop_.operands[0]), ir::Operand::variable(made_.parameters[0])};
    get.results = {take_over(body_.parameters[0], 0)};
    made_.regions[0].variables.push_back(get.results[0]);
    made_.regions[0].ops.push_back(std::move(get));
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
      if (from == loop_.regions[0] && is_sink(op)) continue;
      ir::Op copy = op;
      copy.regions.clear();
      visit_operands(copy, [this](ir::Operand& operand) {
        if (!is_of_nested(operand)) operand = translate(operand);
      });
      for (ir::VarId& result : copy.results) result = translate(ir::Operand::variable(result)).index;
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

  void add_output(const ir::Op& sink) {
    const ir::Operand value = sink.operands.back();
    const auto output = static_cast<ir::VarId>(made_.variables.size());
    made_.variables.push_back({"", ir::type_of(module_, around_, value), sink.span, 0});
    made_.outputs.push_back(output);
    ir::Op copy;
    copy.span = sink.span;
    copy.operands = {translate(value)};
    copy.results = {output};
    made_.regions[0].ops.push_back(std::move(copy));
  }

  const ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  const ir::Region& body_;
  const ir::VarId point_;         ///< none: the body does not name it
  std::set<ir::VarId> declared_;  ///< by the loop's regions
  std::vector<const ir::Op*> sinks_;
  std::map<ir::VarId, ir::VarId> here_;  ///< variables of the function around, in the one made
  std::vector<ir::Operand> captures_;
  ir::Function made_;
};

/// Ints, or the elements of an array with int keys.
bool has_launch_space(const ir::Module& module, const ir::Function& function, const ir::Op& loop) {
  if (loop.kind != OpKind::foreach_range && loop.kind != OpKind::foreach_array) return false;
  const TypeStore& types = *module.types;
  const TypeId type = type_of(module, function, loop.operands[0]);
  if (loop.kind == OpKind::foreach_range) return type == TypeStore::int_;
  return types.is_array(type) && types.at(type).key == TypeStore::int_;
}

void find_in(ir::Module& module, ir::FunctionId id) {
  for (ir::RegionId region = 0; region < module.functions[id].regions.size(); ++region) {
    for (std::size_t i = 0; i < module.functions[id].regions[region].ops.size(); ++i) {
      ir::Op& op = module.functions[id].regions[region].ops[i];
      if (!has_launch_space(module, module.functions[id], op)) continue;
      Outliner outliner(module, module.functions[id], op);
      std::optional<ir::Function> made = outliner.run();
      if (!made || !can_be_leaf(module, *made)) continue;
      made->kind = ir::FunctionKind::leaf;
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
