#include "compiler/opt/launches/loop_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/writers.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"
#include "compiler/opt/launches/linear_keys.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtin_names.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

constexpr std::int64_t most_history = 64;

/// Makes the kernel of one loop.
class LoopKernelMaker {
 public:
  /// @param around_ops  operations that the loop lies in
  LoopKernelMaker(ir::Module& module, const ir::Function& around, const ir::Op& loop,
                  const std::vector<const ir::Op*>& around_ops)
      : module_(module),
        around_(around),
        loop_(loop),
        around_ops_(around_ops),
        own_(regions_in(loop)),
        keys_(module, around, loop, own_),
        copier_(around, made_) {}

  /// @return none: it has none. The kernel's function is function()
  std::optional<ir::LoopKernel> run() {
    if (loop_.test_after || !find_sinks(loop_.regions[1], false) || kernel_.sinks.empty() || !find_history())
      return std::nullopt;
    make_function();
    if (!can_be_leaf(module_, made_)) return std::nullopt;
    return std::move(kernel_);
  }
  ir::Function& function() { return made_; }

 private:
  std::set<ir::RegionId> regions_in(const ir::Op& loop) const {
    std::set<ir::RegionId> found;
    visit_nested(around_, loop, [&](const ir::Op& op) { found.insert(op.regions.begin(), op.regions.end()); });
    return found;
  }
  bool is_from_outside(Operand operand) const {
    return operand.is_constant || !own_.contains(around_.variables[operand.index].region);
  }

  // ---------------------------------------------------------------- what the loop does

  /// @return false: it writes something else, too
  bool find_sinks(ir::RegionId region, bool is_sometimes) {
    for (const ir::Op& op : around_.regions[region].ops) {
      if (op.kind == OpKind::array_insert) {
        if (!is_from_outside(op.operands[0]) || !holds_numbers(op.operands[0])) return false;
        kernel_.sinks.push_back({.array = op.operands[0], .is_sometimes = is_sometimes, .span = op.span});
        keys_of_sinks_.push_back(op.operands[1]);
        continue;
      }
      const bool branches = op.kind == OpKind::if_ || op.kind == OpKind::switch_;
      const bool is_looked_into = branches || op.kind == OpKind::wait || op.kind == OpKind::wait_deep;
      if (!is_looked_into && has_insert(op)) return false;
      for (const ir::RegionId nested : op.regions)
        if (is_looked_into && !find_sinks(nested, is_sometimes || branches)) return false;
    }
    return true;
  }
  bool has_insert(const ir::Op& op) const {
    bool found = false;
    visit_nested(around_, op, [&](const ir::Op& inner) { found |= inner.kind == OpKind::array_insert; });
    return found;
  }
  bool holds_numbers(Operand array) const {
    const auto type = ir::kernel_type(*module_.types, ir::type_of(module_, around_, array));
    return type && vm::is_array(*type);
  }
  bool is_sink(Operand operand) const { return std::ranges::count(kernel_.sinks, operand, &ir::LoopSink::array) != 0; }

  /// What the loop reads of the arrays that it fills. @return false: not only what earlier iterations have inserted
  bool find_history() {
    bool is_good = true;
    visit_nested(around_, loop_, [&](const ir::Op& op) {
      visit_operands(op, [&](const Operand& operand) {
        if (is_good && is_sink(operand)) is_good = is_use_of_sink(op, operand);
      });
    });
    for (const ir::VarId read : variables_read(around_, loop_))
      if (is_good && is_from_outside(Operand::variable(read)) && !is_sink(Operand::variable(read)))
        is_good = !is_written_around(read);
    return is_good;
  }
  bool is_use_of_sink(const ir::Op& op, Operand array) {
    if (op.operands.empty() || op.operands[0] != array || std::ranges::count(op.operands, array) != 1) return false;
    return op.kind == OpKind::array_insert || (op.kind == OpKind::array_get && reads_back(op));
  }
  bool reads_back(const ir::Op& get) {
    const auto is_it = [&](const ir::LoopSink& sink) { return sink.array == get.operands[0]; };
    if (std::ranges::count_if(kernel_.sinks, is_it) != 1) return false;
    const auto found = std::ranges::find_if(kernel_.sinks, is_it);
    if (found->is_sometimes) return false;
    const auto written = keys_.find(keys_of_sinks_[static_cast<std::size_t>(found - kernel_.sinks.begin())]);
    const auto read = keys_.find(get.operands[1]);
    if (!written || !read || written->terms != read->terms) return false;
    const std::int64_t stride = keys_.stride(*written).value_or(0), distance = written->constant - read->constant;
    if (stride == 0 || distance % stride != 0) return false;
    const std::int64_t back = distance / stride;
    if (back < 1 || back > most_history) return false;
    found->history = std::max(found->history, back);
    found->stride = stride;
    back_.push_back(back);
    return true;
  }
  /// By an operation around the loop: to wait for it as a whole would take for ever.
  bool is_written_around(ir::VarId variable) const {
    if (!module_.types->is_array(around_.variables[variable].type)) return false;
    const ir::Writers writers(around_);
    const ir::VarId root = writers.root(outermost(variable));
    return std::ranges::any_of(around_ops_, [&](const ir::Op* op) {
      const std::vector<ir::VarId> held = writers.held_by(*op);
      return std::ranges::find(held, root) != held.end();
    });
  }
  /// The array that it was got from, all the way up.
  ir::VarId outermost(ir::VarId variable) const {
    for (const ir::Op* op : around_ops_)
      for (const ir::RegionId region : op->regions)
        for (const ir::Op& inner : around_.regions[region].ops)
          if (inner.kind == OpKind::array_get && inner.results[0] == variable)
            return outermost(inner.operands[0].index);
    return variable;
  }

  // ---------------------------------------------------------------- the kernel

  Operand declare(TypeId type, ir::RegionId region = 0) {
    made_.variables.push_back({"", module_.types->base(type), loop_.span, region});
    return Operand::variable(static_cast<ir::VarId>(made_.variables.size() - 1));
  }
  Operand parameter(TypeId type) {
    const Operand made = declare(type);
    made_.parameters.push_back(made.index);
    return made;
  }
  Operand output(TypeId type) {
    const Operand made = declare(type);
    made_.outputs.push_back(made.index);
    return made;
  }
  Operand number(std::int64_t value) { return Operand::constant(module_.constant(value)); }
  ir::Op operation(OpKind kind, std::vector<Operand> operands, Operand result) const {
    ir::Op op;
    op.kind = kind;
    op.operands = std::move(operands);
    if (result.index != ir::none) op.results = {result.index};
    op.span = loop_.span;
    return op;
  }
  /// In a region of the kernel, whose variable the result is.
  Operand put(ir::RegionId region, OpKind kind, std::vector<Operand> operands, TypeId type) {
    const Operand result = declare(type, region);
    made_.regions[region].variables.push_back(result.index);
    made_.regions[region].ops.push_back(operation(kind, std::move(operands), result));
    return result;
  }

  void make_function() {
    made_.name = fmt::format("{}.loop.{}", around_.name, module_.functions.size());
    made_.kind = ir::FunctionKind::launched;
    made_.span = loop_.span;
    made_.regions.emplace_back();
    const Operand most = parameter(TypeStore::int_);
    std::vector<Operand> variables;
    for (const ir::VarId variable : around_.regions[loop_.regions[0]].parameters)
      variables.push_back(parameter(around_.variables[variable].type));
    for (const ir::VarId read : variables_read(around_, loop_)) capture(read);
    std::vector<ir::VarId> results;
    for (const Operand variable : variables) results.push_back(output(made_.variables[variable.index].type).index);
    results.push_back(output(TypeStore::int_).index);
    for (std::size_t i = 0; i < kernel_.sinks.size(); ++i) add_history(i, variables);
    for (const ir::LoopSink& sink : kernel_.sinks) add_rows(sink, most);

    ir::Op loop = copier_.copy(loop_, 0);
    std::vector<Operand> initial = variables;
    initial.push_back(number(0));
    loop.operands = std::move(initial);
    loop.results = std::move(results);
    bound(loop, most);
    std::size_t sink = 0, read = 0;
    for (const ir::RegionId region : loop.regions) write_rows(region, sink, read);
    made_.regions[0].ops.push_back(std::move(loop));
    ir::count_writers(made_);
  }

  /// Initial values of the loop are none of them: they are parameters of their own.
  void capture(ir::VarId read) {
    if (!is_from_outside(Operand::variable(read)) || is_sink(Operand::variable(read)) || !is_read_inside(read)) return;
    copier_.set(read, copied_[read] = parameter(around_.variables[read].type));
    kernel_.captures.push_back(Operand::variable(read));
  }
  bool is_read_inside(ir::VarId variable) const {
    bool is_read = false;
    visit_nested(around_, loop_, [&](const ir::Op& op) {
      if (&op == &loop_) {
        is_read = is_read || op.condition == Operand::variable(variable) ||
                  std::ranges::find(op.nexts, Operand::variable(variable)) != op.nexts.end();
        return;
      }
      visit_operands(op, [&](const Operand& operand) { is_read = is_read || operand == Operand::variable(variable); });
    });
    return is_read;
  }

  /// How many elements of the history are there is a parameter, the key of the first iteration an output.
  void add_history(std::size_t sink, const std::vector<Operand>& variables) {
    there_.emplace_back();
    if (kernel_.sinks[sink].history == 0) return;
    there_.back() = parameter(TypeStore::int_);
    const LinearKey key = keys_.find(keys_of_sinks_[sink]).value();
    const std::vector<ir::VarId>& of_loop = around_.regions[loop_.regions[0]].parameters;
    Operand sum = number(key.constant);
    for (const auto& [variable, factor] : key.terms) {
      const auto found = std::ranges::find(of_loop, variable);
      const Operand value =
          found != of_loop.end() ? variables[static_cast<std::size_t>(found - of_loop.begin())] : copied_.at(variable);
      sum = put(0, OpKind::add, {sum, put(0, OpKind::mul, {value, number(factor)}, TypeStore::int_)}, TypeStore::int_);
    }
    made_.regions[0].ops.push_back(operation(OpKind::copy, {sum}, output(TypeStore::int_)));
  }
  void add_rows(const ir::LoopSink& sink, Operand most) {
    const TypeId type = module_.types->base(ir::type_of(module_, around_, sink.array));
    const Operand keys = output(module_.types->array_of(TypeStore::int_, TypeStore::int_)), values = output(type);
    for (const Operand row : {keys, values}) made_.regions[0].ops.push_back(operation(OpKind::array_new, {most}, row));
    rows_.push_back({keys, values});
    copier_.set(sink.array.index, values);
  }

  /// The loop counts its iterations, and ends when there are so many.
  void bound(ir::Op& loop, Operand most) {
    const ir::RegionId test = loop.regions[0], body = loop.regions[1];
    iteration_ = declare(TypeStore::int_, test);
    made_.regions[test].parameters.push_back(iteration_.index);
    const Operand may = put(test, OpKind::lt, {iteration_, most}, TypeStore::boolean);
    loop.condition = put(test, OpKind::and_, {loop.condition, may}, TypeStore::boolean);
    loop.nexts.push_back(put(body, OpKind::add, {iteration_, number(1)}, TypeStore::int_));
  }

  /// In the order in which the sinks, and what is read of them, have been found.
  void write_rows(ir::RegionId region, std::size_t& sink, std::size_t& read) {
    const std::vector<ir::Op> ops = std::move(made_.regions[region].ops);
    made_.regions[region].ops.clear();
    for (ir::Op op : ops) {
      op.launch = op.nest = op.kernel = ir::none;
      for (const ir::RegionId nested : op.regions) write_rows(nested, sink, read);
      if (op.kind == OpKind::array_insert) {
        const std::size_t which = sink++;
        const Operand keys = rows_[which].first, value = op.operands[2];
        if (kernel_.sinks[which].is_sometimes) tell_from_none(region, op);
        ir::Op key = op;
        key.operands = {keys, iteration_, op.operands[1]};
        made_.regions[region].ops.push_back(std::move(key));
        op.operands = {rows_[which].second, position(region, which, 0), value};
      } else if (const auto row = std::ranges::find(rows_, first_operand(op), &Rows::second);
                 op.kind == OpKind::array_get && row != rows_.end()) {
        op.operands[1] = position(region, static_cast<std::size_t>(row - rows_.begin()), back_[read++]);
      }
      made_.regions[region].ops.push_back(std::move(op));
    }
  }
  static Operand first_operand(const ir::Op& op) { return op.operands.empty() ? Operand{} : op.operands[0]; }
  /// Where the iteration so many before this one has written.
  Operand position(ir::RegionId region, std::size_t sink, std::int64_t back) {
    if (kernel_.sinks[sink].history == 0) return iteration_;
    const Operand here = put(region, OpKind::add, {iteration_, there_[sink]}, TypeStore::int_);
    return back == 0 ? here : put(region, OpKind::sub, {here, number(back)}, TypeStore::int_);
  }
  /// The least int stands for no key.
  void tell_from_none(ir::RegionId region, const ir::Op& insert) {
    const Operand least = number(std::numeric_limits<std::int64_t>::min());
    const Operand is_key = put(region, OpKind::ne, {insert.operands[1], least}, TypeStore::boolean);
    ir::Op check = operation(OpKind::call_builtin, {is_key, Operand::constant(module_.constant(std::string()))},
                             declare(TypeStore::void_, region));
    check.callee = stdlib::find_builtin("assert").value();
    check.operand_types = {TypeStore::boolean, TypeStore::string};
    made_.regions[region].variables.push_back(check.results[0]);
    made_.regions[region].ops.push_back(std::move(check));
  }

  using Rows = std::pair<Operand, Operand>;  ///< keys, values

  ir::Module& module_;
  const ir::Function& around_;
  const ir::Op& loop_;
  const std::vector<const ir::Op*>& around_ops_;
  const std::set<ir::RegionId> own_;
  const LinearKeys keys_;
  ir::LoopKernel kernel_;
  std::vector<Operand> keys_of_sinks_;
  std::vector<std::int64_t> back_;  ///< by array_get of a sink: how many iterations
  ir::Function made_;
  RegionCopier copier_;
  std::map<ir::VarId, Operand> copied_;  ///< captures, in the kernel
  std::vector<Operand> there_;           ///< by sink: how much of its history is there
  std::vector<Rows> rows_;               ///< by sink
  Operand iteration_;                    ///< how many there were before
};

class LoopKernels {
 public:
  LoopKernels(ir::Module& module, ir::FunctionId id) : module_(module), id_(id) {}
  void run() { look_into(0); }

 private:
  ir::Function& function() { return module_.functions[id_]; }

  void look_into(ir::RegionId region) {
    for (std::size_t i = 0; i < function().regions[region].ops.size(); ++i) {
      ir::Op& op = function().regions[region].ops[i];
      if (op.kind == OpKind::loop && launch(op)) continue;
      if (op.launch != ir::none || op.nest != ir::none) continue;
      around_.push_back(&op);
      for (const ir::RegionId nested : op.regions) look_into(nested);
      around_.pop_back();
    }
  }

  bool launch(ir::Op& loop) {
    LoopKernelMaker maker(module_, function(), loop, around_);
    std::optional<ir::LoopKernel> made = maker.run();
    if (!made) return false;
    made->kernel = static_cast<ir::FunctionId>(module_.functions.size());
    loop.kernel = static_cast<ir::LoopKernelId>(function().kernels.size());
    function().kernels.push_back(std::move(*made));
    module_.functions.push_back(std::move(maker.function()));
    return true;
  }

  ir::Module& module_;
  const ir::FunctionId id_;
  std::vector<const ir::Op*> around_;  ///< operations that what is looked at lies in
};

}  // namespace

bool has_loop_kernel(ir::Module& module, const ir::Function& function, const ir::Op& loop,
                     const std::vector<const ir::Op*>& around) {
  return LoopKernelMaker(module, function, loop, around).run().has_value();
}

void find_loop_kernels(ir::Module& module) {
  const std::size_t count = module.functions.size();
  for (ir::FunctionId id = 0; id < count; ++id)
    if (module.functions[id].kind == ir::FunctionKind::composite && !module.functions[id].regions.empty())
      LoopKernels(module, id).run();
}

}  // namespace raddle::opt
