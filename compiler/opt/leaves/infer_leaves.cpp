#include "compiler/opt/leaves/infer_leaves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/library_calls.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "compiler/ir/written_name.hpp"
#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// What keeps a function from being a leaf.
struct Obstacle {
  std::string reason;
  Span span;
};

bool is_leaf_scalar(const TypeStore& types, TypeId type) { return TypeStore::is_number_or_truth(types.base(type)); }

bool is_leaf_array(const TypeStore& types, TypeId type) {
  return types.is_array(type) && types.at(type).key == TypeStore::int_ && is_leaf_scalar(types, types.at(type).element);
}

std::string quoted(const ir::Var& variable) { return variable.name.empty() ? "a value" : "`" + variable.name + "`"; }

class Inspector {
 public:
  Inspector(const ir::Module& module, const ir::Function& function, IsLeaf is_leaf)
      : module_(module),
        types_(*module.types),
        function_(function),
        is_leaf_(std::move(is_leaf)),
        reduced_loops_(module, function) {}

  std::optional<Obstacle> find_obstacle() {
    if (function_.file_output_count != 0) return Obstacle{"it has a file output", function_.span};
    if (function_.outputs.empty() && function_.kind != ir::FunctionKind::launched)
      return Obstacle{"it has no output", function_.span};
    for (const ir::VarId output : function_.outputs)
      if (is_row(ir::Operand::variable(output)))
        assigned_.insert(output);
      else if (!is_leaf_scalar(types_, type_of(output)))
        return Obstacle{fmt::format("its output {} has the type {}", quoted(function_.variables[output]),
                                    types_.name(type_of(output))),
                        function_.variables[output].span};
    for (const ir::VarId parameter : function_.parameters) {
      if (!is_leaf_scalar(types_, type_of(parameter)) && !is_leaf_array(types_, type_of(parameter)))
        return Obstacle{
            fmt::format("{} has the type {}", quoted(function_.variables[parameter]), types_.name(type_of(parameter))),
            function_.variables[parameter].span};
      assigned_.insert(parameter);
    }
    inspect_region(0);
    for (const ir::VarId output : function_.outputs)
      if (!obstacle_ && !assigned_.contains(output))
        found(fmt::format("{} is not assigned on every path", quoted(function_.variables[output])),
              function_.variables[output].span);
    return obstacle_;
  }

 private:
  TypeId type_of(ir::VarId variable) const { return function_.variables[variable].type; }

  /// An array that a launched leaf gives: what calls it has made it, and it may write there.
  bool is_row(const ir::Operand& operand) const {
    return function_.kind == ir::FunctionKind::launched && !operand.is_constant &&
           is_leaf_array(types_, type_of(operand.index)) &&
           std::ranges::find(function_.outputs, operand.index) != function_.outputs.end();
  }

  void found(std::string reason, Span span) {
    if (!obstacle_) obstacle_ = Obstacle{std::move(reason), span};
  }

  void check_read(const ir::Operand& operand, Span span) {
    if (operand.index == ir::none) return;
    if (operand.is_constant) {
      if (std::holds_alternative<std::string>(module_.constants[operand.index])) found("it uses strings", span);
      return;
    }
    const ir::Var& variable = function_.variables[operand.index];
    if (!assigned_.contains(operand.index))
      found(fmt::format("{} may be read before it is assigned", quoted(variable)), span);
    else if (!is_leaf_scalar(types_, variable.type) && !is_leaf_array(types_, variable.type))
      found(fmt::format("it uses the type {}", types_.name(variable.type)), span);
  }

  /// `assert(..)` and the like, which have no result that a leaf could not have.
  bool is_assert_call(const ir::Op& op) const {
    return op.kind == OpKind::call_builtin && failure_of(op) == vm::KernelFailure::assertion;
  }

  /// What is told if a check fails: then the call is interpreted.
  bool is_text_of_failure(const ir::Op& op, const ir::Operand& operand) const {
    return operand.is_constant && std::holds_alternative<std::string>(module_.constants[operand.index]) &&
           op.kind == OpKind::call_builtin && vm::has_message(failure_of(op));
  }

  void inspect_region(ir::RegionId region) {
    for (const ir::Op& op : function_.regions[region].ops) {
      if (obstacle_) return;
      inspect(op);
    }
  }

  /// After a library function was called nothing may: what fails is interpreted from its beginning, and would call it
  /// once more.
  bool may_fail(const ir::Op& op) const {
    switch (op.kind) {
      case OpKind::if_:
      case OpKind::switch_:
      case OpKind::wait:
      case OpKind::wait_deep: return false;  // what is in them is looked at
      case OpKind::call: return !is_library_call(op);
      case OpKind::call_builtin:
        return reduced_loops_.of(op) != nullptr || failure_of(op) != vm::KernelFailure::nothing;
      default: return !can_not_fail(module_, function_, op);
    }
  }

  bool is_library_call(const ir::Op& op) const {
    return function_.kind == ir::FunctionKind::launched && ir::is_called_directly(types_, module_.functions[op.callee]);
  }

  void inspect(const ir::Op& op) {
    if (has_called_library_ && may_fail(op)) return found("it may fail after a call of a library function", op.span);
    if (const ir::ReducedLoop* const reduced = reduced_loops_.of(op)) return inspect_reduced(op, *reduced);
    if (op.kind == OpKind::array_new && is_row(ir::Operand::variable(op.results[0]))) return;
    for (const ir::Operand& operand : op.operands)
      if (!is_text_of_failure(op, operand)) check_read(operand, op.span);
    if (obstacle_) return;
    inspect_kind(op);
    for (const ir::VarId result : op.results) {
      // machine code would keep the last value: only the interpreter finds the error
      if (!maybe_assigned_.insert(result).second)
        found(fmt::format("{} may be assigned twice", quoted(function_.variables[result])), op.span);
      if (!is_leaf_scalar(types_, type_of(result)) && !is_assert_call(op))
        found(fmt::format("it makes a value of type {}", types_.name(type_of(result))), op.span);
      assigned_.insert(result);
    }
  }

  /// What the loop needs is to be there where its numbers are reduced.
  void inspect_reduced(const ir::Op& op, const ir::ReducedLoop& reduced) {
    if (&op != reduced.reduction) return;
    const std::vector<ir::VarId> inside = variables_assigned(function_, *reduced.loop);
    const ir::Region& body = function_.regions[reduced.loop->regions[0]];
    for (const ir::VarId read : variables_read(function_, *reduced.loop)) {
      const bool is_own = read == reduced.array->results[0] || std::ranges::find(inside, read) != inside.end() ||
                          std::ranges::find(body.parameters, read) != body.parameters.end();
      if (!is_own) check_read(ir::Operand::variable(read), op.span);
    }
    if (!obstacle_ && !is_plain_launch(module_, function_, *reduced.loop, is_leaf_))
      found("what it reduces is not computed by a leaf function", op.span);
    if (!maybe_assigned_.insert(op.results[0]).second)
      found(fmt::format("{} may be assigned twice", quoted(function_.variables[op.results[0]])), op.span);
    assigned_.insert(op.results[0]);
  }

  void inspect_kind(const ir::Op& op) {
    if (op.priority.index != ir::none) return found("a call in it has a priority", op.span);
    if (op.rank.index != ir::none) return found("a call in it has a location", op.span);
    switch (op.kind) {
      case OpKind::copy:
      case OpKind::int_to_float:
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul:
      case OpKind::index_add:
      case OpKind::index_mul:
      case OpKind::div:
      case OpKind::idiv:
      case OpKind::mod:
      case OpKind::pow:
      case OpKind::mul_add:
      case OpKind::mul_sub:
      case OpKind::sub_mul:
      case OpKind::neg:
      case OpKind::not_:
      case OpKind::and_:
      case OpKind::or_:
      case OpKind::eq:
      case OpKind::ne:
      case OpKind::lt:
      case OpKind::le:
      case OpKind::gt:
      case OpKind::ge:
      case OpKind::array_get: return;
      case OpKind::call: return inspect_call(op);
      case OpKind::call_builtin: return inspect_builtin(op);
      case OpKind::if_:
      case OpKind::switch_: return inspect_branches(op);
      case OpKind::loop: return inspect_loop(op);
      case OpKind::concat:
      case OpKind::path_join: return found("it uses strings", op.span);
      case OpKind::array_insert:
        if (!is_row(op.operands[0])) found("it makes an array", op.span);
        return;
      case OpKind::array_new:
      case OpKind::array_hold:
      case OpKind::array_row:
      case OpKind::array_list:
      case OpKind::array_map:
      case OpKind::array_range: return found("it makes an array", op.span);
      case OpKind::bag_new:
      case OpKind::bag_append:
      case OpKind::bag_row: return found("it makes a bag", op.span);
      case OpKind::struct_new:
      case OpKind::struct_make:
      case OpKind::struct_get:
      case OpKind::struct_set: return found("it uses a structure", op.span);
      case OpKind::file_new:
      case OpKind::file_assign: return found("it uses a file", op.span);
      case OpKind::update_new:
      case OpKind::update_get:
      case OpKind::update: return found("it uses an updateable", op.span);
      case OpKind::call_app: return found("it starts a program", op.span);
      case OpKind::memo:
      case OpKind::memo_keep: return found("its results are kept on disk", op.span);
      case OpKind::foreach_range:
      case OpKind::foreach_array: return found("it has a `foreach`: a leaf's loops are `for` and `iterate`", op.span);
      case OpKind::attempt: return found("it goes on after a failure", op.span);
      case OpKind::wait:
      case OpKind::wait_deep: return inspect_region(op.regions[0]);  // all inputs of a leaf are there
    }
  }

  void inspect_call(const ir::Op& op) {
    if (is_library_call(op)) {
      has_called_library_ = true;
      return;
    }
    const ir::Function& callee = module_.functions[op.callee];
    if (!is_leaf_(op.callee))
      found(fmt::format("it calls `{}`, which is no leaf function{}", ir::written_name(callee),
                        callee.not_leaf_reason.empty() ? "" : ": there, " + callee.not_leaf_reason),
            op.span);
  }

  void inspect_builtin(const ir::Op& op) {
    if (ir::library_operator(module_, function_, op) == vm::KernelOp::if_)
      found(fmt::format("it calls `{}`", stdlib::builtins()[op.callee].name), op.span);
  }

  /// Of a library function that a leaf can call.
  vm::KernelFailure failure_of(const ir::Op& op) const {
    return vm::info(ir::library_operator(module_, function_, op)).failure;
  }

  void inspect_branches(const ir::Op& op) {
    constexpr std::size_t most_labels = 500;  // branches of a kernel lie in each other
    if (op.labels.size() > most_labels)
      return found(fmt::format("it has a `switch` with more than {} labels", most_labels), op.span);
    const std::set<ir::VarId> before = assigned_;
    const std::set<ir::VarId> maybe_before = maybe_assigned_;
    const bool had_called_library = has_called_library_;
    bool has_called_library = has_called_library_;
    std::set<ir::VarId> maybe_after = maybe_assigned_;
    std::optional<std::set<ir::VarId>> on_all_paths;
    for (const ir::RegionId region : op.regions) {
      assigned_ = before;
      maybe_assigned_ = maybe_before;
      has_called_library_ = had_called_library;
      inspect_region(region);
      has_called_library |= has_called_library_;
      merge(on_all_paths);
      maybe_after.insert(maybe_assigned_.begin(), maybe_assigned_.end());
    }
    maybe_assigned_ = std::move(maybe_after);
    has_called_library_ = has_called_library;
    const bool may_skip = op.kind == OpKind::if_ ? op.regions.size() < 2 : op.regions.size() == op.labels.size();
    if (may_skip) {
      assigned_ = before;
      merge(on_all_paths);
    }
    assigned_ = on_all_paths.value_or(before);
  }

  void merge(std::optional<std::set<ir::VarId>>& on_all_paths) const {
    if (!on_all_paths) {
      on_all_paths = assigned_;
      return;
    }
    std::set<ir::VarId> both;
    std::ranges::set_intersection(*on_all_paths, assigned_, std::inserter(both, both.end()));
    on_all_paths = std::move(both);
  }

  // Variables of the loop are visible inside only; what the body assigns outside of it is no loop-carried variable.
  void inspect_loop(const ir::Op& op) {
    const std::set<ir::VarId> before = assigned_;
    const ir::Region& test = function_.regions[op.regions[0]];
    assigned_.insert(test.parameters.begin(), test.parameters.end());
    inspect_region(op.regions[0]);
    if (!op.test_after) check_read(op.condition, op.span);
    inspect_region(op.regions[1]);
    if (op.test_after) check_read(op.condition, op.span);
    for (const ir::Operand& next : op.nexts) check_read(next, op.span);
    if (has_called_library_) found("a loop in it calls a library function", op.span);
    for (const ir::VarId inside : assigned_) {
      if (before.contains(inside)) continue;
      if (is_outside(function_.variables[inside].region, op.regions[0]))
        found(fmt::format("{} is assigned inside a loop", quoted(function_.variables[inside])), op.span);
    }
    assigned_ = before;
  }

  /// True if `region` is neither `loop` nor nested in it (or in the loop's body, whose parent may be the test).
  bool is_outside(ir::RegionId region, ir::RegionId loop_test) const {
    const ir::RegionId around = function_.regions[loop_test].parent;
    for (ir::RegionId at = around; at != ir::none; at = function_.regions[at].parent)
      if (at == region) return true;
    return region == ir::none;
  }

  const ir::Module& module_;
  const TypeStore& types_;
  const ir::Function& function_;
  const IsLeaf is_leaf_;
  const ir::ReducedLoops reduced_loops_;
  std::set<ir::VarId> assigned_;        ///< on every path to here
  std::set<ir::VarId> maybe_assigned_;  ///< on some path to here
  bool has_called_library_ = false;     ///< perhaps
  std::optional<Obstacle> obstacle_;
};

void report(const ir::Function& function, const Obstacle& obstacle, Diagnostics& diagnostics) {
  Diagnostic& diagnostic =
      diagnostics.report(DiagnosticKind::not_a_leaf, function.span, ir::written_name(function), obstacle.reason);
  if (obstacle.span.begin != function.span.begin) diagnostic.label(obstacle.span, "here");
}

}  // namespace

void infer_leaves(ir::Module& module, Diagnostics& diagnostics) {
  std::set<ir::FunctionId> candidates;
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
    ir::Function& function = module.functions[id];
    if (id != module.entry && function.kind == ir::FunctionKind::composite) candidates.insert(id);
    if (function.kind != ir::FunctionKind::app && function.kind != ir::FunctionKind::foreign) continue;
    const bool is_app = function.kind == ir::FunctionKind::app;
    function.not_leaf_reason = is_app ? "it starts a program" : "it is code outside of the script";
    if (function.demands_leaf) report(function, {function.not_leaf_reason, function.span}, diagnostics);
  }

  // optimistic: functions that call each other support each other until an obstacle is found
  for (bool changed = true; changed;) {
    changed = false;
    for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
      if (!candidates.contains(id)) continue;
      ir::Function& function = module.functions[id];
      const auto is_candidate = [&](ir::FunctionId callee) { return candidates.contains(callee); };
      const std::optional<Obstacle> obstacle = Inspector(module, function, is_candidate).find_obstacle();
      if (!obstacle) continue;
      function.not_leaf_reason = obstacle->reason;
      if (function.demands_leaf) report(function, *obstacle, diagnostics);
      candidates.erase(id);
      changed = true;
    }
  }
  for (const ir::FunctionId id : candidates) module.functions[id].kind = ir::FunctionKind::leaf;
}

bool can_be_leaf(const ir::Module& module, const ir::Function& function) {
  return can_be_leaf(module, function,
                     [&](ir::FunctionId callee) { return module.functions[callee].kind == ir::FunctionKind::leaf; });
}

bool can_be_leaf(const ir::Module& module, const ir::Function& function, const IsLeaf& is_leaf) {
  return !Inspector(module, function, is_leaf).find_obstacle();
}

}  // namespace raddle::opt
