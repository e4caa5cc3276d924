// Calls of functions of the script and of the library.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/opt/flatten/array_functions.hpp"
#include "compiler/opt/flatten/flattener.hpp"
#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/reduced_loops.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

using ir::Operand;
using ir::OpKind;

namespace {

constexpr unsigned most_nested_calls = 12;

}  // namespace

void Flattener::call(Scope& scope, const ir::Op& op) {
  const ir::Function& callee = module_.functions[op.callee];
  if (op.priority.index != ir::none || op.rank.index != ir::none || callee.file_output_count != 0 ||
      callee.placement != vm::Placement::any)
    return refuse("it is a call with a place, a priority or a file");
  const bool is_leaf = callee.kind == ir::FunctionKind::leaf;
  if (is_leaf && !is_short(callee)) {
    std::vector<Operand> inputs;
    for (const Operand operand : op.operands) inputs.push_back(array(scope, operand));
    std::vector<TypeId> types;
    for (const ir::VarId output : callee.outputs) types.push_back(module_.types->base(callee.variables[output].type));
    if (is_refused_) return;
    const std::vector<Operand> results = now_.builder.call_leaf(op, std::move(inputs), types);
    for (std::size_t i = 0; i < results.size(); ++i) bind(scope, op.results[i], {results[i]});
    return;
  }
  if (!is_leaf && callee.kind != ir::FunctionKind::composite)
    return refuse("it calls an app or a function of another language");
  if (depth_ == most_nested_calls) return refuse("calls within calls go too deep, as of a recursion");
  Scope inner{.function = &callee};
  for (std::size_t i = 0; i < callee.parameters.size(); ++i)
    inner.known[callee.parameters[i]] = known(scope, op.operands[i]);
  ++depth_;
  region(inner, 0);
  --depth_;
  for (std::size_t i = 0; i < callee.outputs.size() && !is_refused_; ++i)
    bind(scope, op.results[i], known(inner, Operand::variable(callee.outputs[i])));
}

bool Flattener::is_short(const ir::Function& leaf) const {
  constexpr std::size_t most = 40;
  std::size_t count = 0;
  for (const ir::Region& region : leaf.regions)
    for (const ir::Op& op : region.ops) {
      const bool is_plain_if = op.kind != OpKind::if_ || is_plain(leaf, op);
      if (!is_plain_if || op.kind == OpKind::loop || op.kind == OpKind::switch_ || ++count > most) return false;
    }
  return true;
}

void Flattener::own_function(Scope& scope, const ir::Op& op, const stdlib::OwnFunction& function) {
  if (now_.builder.is_in_each() || op.operands.size() != function.input_count) return refuse(array_in_each);
  std::vector<Operand> inputs;
  for (const Operand operand : op.operands) {
    inputs.push_back(type_of(scope, operand) == TypeStore::string ? value(scope, operand) : array(scope, operand));
    const Operand input = inputs.back();
    if (is_refused_) return;
    if (const auto* text = input.is_constant ? std::get_if<std::string>(&module_.constants[input.index]) : nullptr;
        text != nullptr && stdlib::word_number(*text) < 0)
      return refuse("it takes a text that is none of the known ones");
    if (!input.is_constant && now_.builder.type_of(input) == TypeStore::string)
      return refuse("it takes a text that is known only when it runs");
  }
  std::vector<TypeId> types;
  std::vector<BodyBuilder::Operands> extents;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    types.push_back(type_of(scope, Operand::variable(op.results[i])));
    const std::string_view rule = function.counts.substr(i * 3, 2);
    if (rule.starts_with('x')) {
      extents.emplace_back();
      continue;
    }
    const Operand input = inputs[static_cast<std::size_t>(rule[1] - '0')];
    const BodyBuilder::Operands* const known = rule[0] == 'a' ? now_.builder.extents_of(input) : nullptr;
    extents.push_back(known ? *known : BodyBuilder::Operands{rule[0] == 'a' ? size_of(input, op.span) : input});
  }
  now_.has_own_array = true;
  const std::vector<Operand> made = now_.builder.own_function(op, std::move(inputs), types, extents);
  for (std::size_t i = 0; i < made.size(); ++i) bind(scope, op.results[i], {made[i]});
}

void Flattener::library(Scope& scope, const ir::Op& op) {
  const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
  const TypeId type = type_of(scope, Operand::variable(op.results[0]));
  if (std::optional<Operand> found = array_function(scope, op, builtin.name, type)) {
    bind(scope, op.results[0], {*found});
  } else if (const auto* const own = stdlib::find_own_function(op.callee); own && !is_refused_) {
    own_function(scope, op, *own);
  } else if (!is_refused_) {
    if (ir::library_operator(module_, *scope.function, op) == vm::KernelOp::if_)
      return refuse("it calls a function of the library that kernels do not have");
    std::vector<Operand> inputs;
    for (const Operand operand : op.operands)
      inputs.push_back(type_of(scope, operand) == TypeStore::string ? operand : array(scope, operand));
    if (std::ranges::any_of(inputs, [&](Operand input) { return now_.builder.is_own(input); }))
      return refuse("it gives an array of its own to a function of the library");
    if (is_refused_) return;
    bind(scope, op.results[0], {now_.builder.call(op, std::move(inputs), type)});
  }
}

std::optional<Operand> Flattener::array_function(Scope& scope, const ir::Op& op, std::string_view name, TypeId type) {
  BodyBuilder& builder = now_.builder;
  const auto input = [&](std::size_t i) { return value(scope, op.operands[i]); };
  const auto is_one = [&](Operand operand) { return builder.known(operand) == 1; };
  if (name == "@complete") return builder.number(0);
  if (name == "@extent") {
    const Operand extent = input(1);
    if (builder.known(extent).value_or(-1) >= 0) return extent;
    return builder.same(extent, builder.call("max_integer", {extent, builder.number(0)}, type, op.span), op.span);
  }
  if (name == "@same_extent") return builder.same(input(0), input(1), op.span);
  if (name == "@joint_extent") {
    const Operand first = input(1), second = input(2);
    if (first == second || is_one(second)) return first;
    return is_one(first) ? second : builder.same(first, second, op.span);
  }
  if (name == "@dense_keys" || name == "size") return size_of(array(scope, op.operands[0]), op.span);
  if (name == "@count_ints") {
    if (builder.known(input(2)).value_or(0) == 0) return none();
    const Operand count = step_count(input(0), input(1), input(2), op.span);
    return builder.call("max_integer", {count, builder.number(0)}, type, op.span);
  }
  if (name == "@fitting") {
    const Operand elements = array(scope, op.operands[0]);
    Operand wanted = input(1);
    for (std::size_t i = 2; i < op.operands.size(); ++i)
      wanted = builder.put(OpKind::mul, {wanted, input(i)}, TypeStore::int_, op.span);
    builder.same(size_of(elements, op.span), wanted, op.span);
    return elements;
  }
  const auto product = [&](std::size_t first, std::size_t end) {
    Operand all = input(first);
    for (std::size_t i = first + 1; i < end; ++i)
      all = builder.put(OpKind::mul, {all, input(i)}, TypeStore::int_, op.span);
    return all;
  };
  if (name == "@reshaped") {  // the number of the old extents, these, the new ones
    const std::size_t old_end = 1 + static_cast<std::size_t>(builder.known(input(0)).value_or(0));
    if (is_refused_ || old_end == 1 || old_end >= op.operands.size()) return none();
    const Operand whole = product(1, old_end);
    builder.same(whole, product(old_end, op.operands.size()), op.span);
    return input(old_end);
  }
  if (name == "@fits_slice") {  // the slice's rank, its extents, those of what is assigned: one of 1 fits, too
    const std::size_t found = 1 + static_cast<std::size_t>(builder.known(input(0)).value_or(0));
    const std::size_t count = op.operands.size() - found;
    if (is_refused_ || found == 1 || count > found - 1) return none();
    for (std::size_t i = 0; i < count; ++i)
      if (!is_one(input(found + i))) builder.same(input(found - count + i), input(found + i), op.span);
    return input(1);
  }
  if (name == "axis_") {
    const std::optional<std::int64_t> axis = builder.known(input(0)), rank = builder.known(input(1));
    if (axis && rank && *axis >= -*rank && *axis < *rank) return builder.number(*axis < 0 ? *axis + *rank : *axis);
    return none();
  }
  if (builder.is_in_each() && (name == "lines_" || name == "vector_product_" || ir::is_reduction(op))) return none();
  if (name == "lines_") return lines(scope, op, type);
  if (name == "vector_product_") {
    const Operand vector = array(scope, op.operands[0]), matrix = array(scope, op.operands[1]);
    if (is_refused_) return std::nullopt;
    now_.has_own_array = true;
    builder.same(size_of(vector, op.span), input(2), op.span);
    return vector_product(builder, vector, matrix, input(2), input(3), type, op.span);
  }
  if (ir::is_reduction(op) && vm::reducer_of_function(name)) {
    const Operand elements = array(scope, op.operands[0]);
    if (is_refused_) return std::nullopt;
    now_.has_own_array = true;
    return reduced(builder, op, elements, size_of(elements, op.span), type);
  }
  return std::nullopt;
}

std::optional<Operand> Flattener::none() {
  refuse(now_.builder.is_in_each() ? array_in_each : unknown_extent);
  return std::nullopt;
}

std::optional<Operand> Flattener::lines(Scope& scope, const ir::Op& op, TypeId type) {
  const Operand what = value(scope, op.operands[0]), elements = array(scope, op.operands[1]);
  const auto input = [&](std::size_t i) { return value(scope, op.operands[i]); };
  if (!what.is_constant || is_refused_) return none();
  if (now_.builder.known(input(4)) != 0) return std::nullopt;
  const std::string text = std::get<std::string>(module_.constants[what.index]);
  const std::optional<Operand> made = loops_over_lines(
      now_.builder, {.what = text, .array = elements, .length = input(2), .apart = input(3), .count = input(5)}, type,
      op.span);
  now_.has_own_array |= made.has_value();
  return made;
}

}  // namespace raddle::opt
