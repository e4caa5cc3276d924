#include "compiler/shapes/known_shapes.hpp"

#include <algorithm>

#include "compiler/check/annotations.hpp"
#include "compiler/check/array_choice.hpp"
#include "compiler/check/resolve_types.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::ExprKind;
using stdlib::any_extent;

/// Variables that are computed from each other are followed so far: none of them may take the stack.
constexpr std::size_t deepest = 200;

/// How many ints `low:high:step` are, both ends included.
std::int64_t count_of(std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                      std::optional<std::int64_t> step) {
  std::int64_t distance = 0;
  if (!low || !high || !step || *step < 1 || __builtin_sub_overflow(*high, *low, &distance)) return any_extent;
  if (distance < 0) return 0;
  std::int64_t count = 0;
  return __builtin_add_overflow(distance / *step, 1, &count) ? any_extent : count;
}

/// What is not known is 1 or as the other one is, or it does not fit.
std::int64_t joined_extent(std::int64_t one, std::int64_t other) {
  if (one == other || other == 1) return one;
  if (one == 1 || one == any_extent) return other;
  return other == any_extent ? one : any_extent;
}

}  // namespace

Shape joined(const Shape& first, const Shape& second) {
  if (first.size() < second.size()) return joined(second, first);
  Shape joint = first;
  const std::size_t missing = first.size() - second.size();
  for (std::size_t axis = 0; axis < second.size(); ++axis)
    joint[missing + axis] = joined_extent(first[missing + axis], second[axis]);
  return joint;
}

bool are_known(const Shape& shape) { return std::ranges::find(shape, any_extent) == shape.end(); }

const KnownShapes::Entry& KnownShapes::known(VariableId id) {
  Entry& entry = entries_[id];
  if (entry.state == Entry::State::not_looked_at) {
    entry.state = Entry::State::in_work;  // what is computed from itself is not known
    entry.shape.assign(context_.store().rank(context_.store().base(context_.program.variables[id].type)), any_extent);
    ++depth_;
    if (depth_ < deepest) find(id, entry);
    --depth_;
    entry.state = Entry::State::known;
  }
  return entry;
}

void KnownShapes::find(VariableId id, Entry& entry) {
  const Variable& variable = context_.program.variables[id];
  if (variable.constant != nullptr) {
    entry.number = number(*variable.constant);
    return;
  }
  const ast::Expr* const value = entry.writes == 1 ? entry.value : nullptr;
  if (entry.shape.empty()) {
    if (value != nullptr && !entry.is_row && value->kind != ExprKind::Tuple && entry.output == 0 &&
        context_.store().base(variable.type) == TypeStore::int_)
      entry.number = number(*value);
    return;
  }
  Shape found = declared(id);
  if (found.size() != entry.shape.size()) found.assign(entry.shape.size(), any_extent);
  if (value != nullptr && !are_known(found)) {
    Shape assigned =
        value->kind == ExprKind::Call ? shape_of_output(as<ast::Call>(*value), entry.output) : shape(*value);
    if (entry.is_row && !assigned.empty()) assigned.erase(assigned.begin());
    for (std::size_t axis = 0; axis < found.size() && assigned.size() == found.size(); ++axis)
      if (found[axis] == any_extent) found[axis] = assigned[axis];
  }
  entry.shape = std::move(found);
}

Shape KnownShapes::shape_of(VariableId id) { return known(id).shape; }

Shape KnownShapes::declared(VariableId id) {
  const Entry& entry = entries_[id];
  return entry.dimension == nullptr ? context_.program.variables[id].fixed_extents : extents(*entry.dimension);
}

Shape KnownShapes::extents(const ast::Dimension& dimension, Surroundings around) {
  Shape found;
  for (const ast::ExprPtr& entry : dimension.entries)
    found.push_back(is_open(*entry) ? any_extent : std::max(number(*entry, around).value_or(any_extent), any_extent));
  return found;
}

Shape KnownShapes::declared_at(const ast::Expr& place) {
  const ast::Expr* at = &place;
  while (at->kind == ExprKind::Index) at = as<ast::Index>(*at).base.get();
  if (at->kind == ExprKind::Name && as<ast::Name>(*at).variable != ast::no_variable)
    return declared(as<ast::Name>(*at).variable);
  if (at->kind != ExprKind::Field) return {};
  const auto& field = as<ast::Field>(*at);
  const TypeId holder = context_.store().base(field.base->type);
  if (context_.store().kind(holder) != TypeKind::structure) return {};
  return context_.store().structure(holder).fields[field.index].extents;
}

// ---------------------------------------------------------------- numbers

std::optional<std::int64_t> KnownShapes::number(const ast::Expr& expr, Surroundings around) {
  switch (expr.kind) {
    case ExprKind::IntLiteral: return as<ast::IntLiteral>(expr).value;
    case ExprKind::Name: {
      const auto& name = as<ast::Name>(expr);
      if (name.is_end) return around.end == any_extent ? std::nullopt : std::optional(around.end - 1);
      if (name.variable == ast::no_variable) return std::nullopt;
      if (around.inputs != nullptr)
        if (const auto bound = around.inputs->find(name.variable); bound != around.inputs->end()) return bound->second;
      return known(name.variable).number;
    }
    case ExprKind::Unary: {
      const auto& unary = as<ast::Unary>(expr);
      const auto operand = number(*unary.operand, around);
      std::int64_t result = 0;
      if (unary.op != ast::UnaryOp::negate || !operand || __builtin_sub_overflow(0, *operand, &result)) return {};
      return result;
    }
    case ExprKind::Binary: {
      const auto& binary = as<ast::Binary>(expr);
      const auto left = number(*binary.left, around), right = number(*binary.right, around);
      if (!left || !right) return std::nullopt;
      std::int64_t result = 0;
      bool fails = true;
      const bool are_natural = *left >= 0 && *right > 0;
      if (binary.op == ast::BinaryOp::add) fails = __builtin_add_overflow(*left, *right, &result);
      if (binary.op == ast::BinaryOp::sub) fails = __builtin_sub_overflow(*left, *right, &result);
      if (binary.op == ast::BinaryOp::mul) fails = __builtin_mul_overflow(*left, *right, &result);
      if (binary.op == ast::BinaryOp::idiv && are_natural) return *left / *right;
      if (binary.op == ast::BinaryOp::mod && are_natural) return *left % *right;
      return fails ? std::nullopt : std::optional(result);
    }
    case ExprKind::Call: return number_of_call(as<ast::Call>(expr), around);
    default: return std::nullopt;
  }
}

/// `size(a)` and `size(a, axis)`.
std::optional<std::int64_t> KnownShapes::number_of_call(const ast::Call& call, Surroundings around) {
  const bool is_of_library = call.callee_kind == ast::CalleeKind::builtin ||
                             (call.callee_kind == ast::CalleeKind::function &&
                              context_.is_of_library(context_.program.functions[call.callee_index].definition->span));
  if (call.callee.text != "size" || !is_of_library || call.resolved_arguments.empty()) return std::nullopt;
  const Shape array = shape(*call.resolved_arguments[0], around);
  if (array.empty()) return std::nullopt;
  if (call.resolved_arguments.size() == 2) {
    const auto axis = number(*call.resolved_arguments[1], around);
    const auto rank = static_cast<std::int64_t>(array.size());
    if (!axis || *axis < -rank || *axis >= rank) return std::nullopt;
    const std::int64_t extent = array[static_cast<std::size_t>(*axis < 0 ? *axis + rank : *axis)];
    return extent == any_extent ? std::nullopt : std::optional(extent);
  }
  std::int64_t product = 1;
  for (const std::int64_t extent : array)
    if (extent == any_extent || __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  return product;
}

std::optional<bool> KnownShapes::truth(const ast::Expr& expr) {
  if (expr.kind == ExprKind::BoolLiteral) return as<ast::BoolLiteral>(expr).value;
  if (expr.kind == ExprKind::Unary && as<ast::Unary>(expr).op == ast::UnaryOp::not_) {
    const auto operand = truth(*as<ast::Unary>(expr).operand);
    return operand ? std::optional(!*operand) : std::nullopt;
  }
  if (expr.kind != ExprKind::Binary) {
    const auto value = context_.store().base(expr.type) == TypeStore::int_ ? number(expr) : std::nullopt;
    return value ? std::optional(*value != 0) : std::nullopt;
  }
  const auto& binary = as<ast::Binary>(expr);
  if (binary.op == ast::BinaryOp::and_ || binary.op == ast::BinaryOp::or_) {
    const bool decides = binary.op == ast::BinaryOp::or_;
    const auto left = truth(*binary.left), right = truth(*binary.right);
    if (left == decides || right == decides) return decides;
    return left && right ? std::optional(!decides) : std::nullopt;
  }
  const auto left = number(*binary.left), right = number(*binary.right);
  if (!left || !right) return std::nullopt;
  switch (binary.op) {
    case ast::BinaryOp::eq: return *left == *right;
    case ast::BinaryOp::ne: return *left != *right;
    case ast::BinaryOp::lt: return *left < *right;
    case ast::BinaryOp::le: return *left <= *right;
    case ast::BinaryOp::gt: return *left > *right;
    case ast::BinaryOp::ge: return *left >= *right;
    default: return std::nullopt;
  }
}

// ---------------------------------------------------------------- shapes

Shape KnownShapes::shape(const ast::Expr& expr, Surroundings around) {
  const std::uint32_t rank = context_.store().rank(context_.store().base(expr.type));
  if (rank == 0) return {};
  Shape found;
  switch (expr.kind) {
    case ExprKind::Name:
      if (as<ast::Name>(expr).variable != ast::no_variable) found = shape_of(as<ast::Name>(expr).variable);
      break;
    case ExprKind::ArrayLiteral:
    case ExprKind::Range: found = shape_of_literal(expr); break;
    case ExprKind::Unary: found = shape(*as<ast::Unary>(expr).operand, around); break;
    case ExprKind::Binary:
      found = joined(shape(*as<ast::Binary>(expr).left, around), shape(*as<ast::Binary>(expr).right, around));
      break;
    case ExprKind::Index: found = shape_of_index(as<ast::Index>(expr), around); break;
    case ExprKind::Field: found = declared_at(expr); break;
    case ExprKind::Call: found = shape_of_output(as<ast::Call>(expr), 0, around); break;
    default: break;
  }
  if (found.size() != rank) found.assign(rank, any_extent);
  return found;
}

Shape KnownShapes::shape_of_literal(const ast::Expr& literal) {
  if (literal.kind == ExprKind::Range) {
    const auto& range = as<ast::Range>(literal);
    const auto step = range.step == nullptr ? std::optional<std::int64_t>(1) : number(*range.step);
    return {count_of(number(*range.low), number(*range.high), step)};
  }
  const std::uint32_t rank = context_.store().rank(context_.store().base(literal.type));
  Shape found;
  const ast::Expr* row = &literal;
  while (found.size() < rank && row->kind == ExprKind::ArrayLiteral) {
    const auto& rows = as<ast::ArrayLiteral>(*row).elements;
    found.push_back(static_cast<std::int64_t>(rows.size()));
    if (rows.empty()) found.resize(rank, 0);
    if (rows.empty()) break;
    row = rows.front().get();
  }
  return found;
}

Shape KnownShapes::shape_of_index(const ast::Index& index, Surroundings around) {
  const TypeId base = context_.store().base(index.base->type);
  if (!context_.store().is_dense(base)) return declared_at(index);
  switch (choice_of(context_.store(), index, base)) {
    case Choice::by_mask: return {any_extent};
    case Choice::of_points: {
      Shape points;
      for (const ast::ExprPtr& each : index.indices) points = joined(points, shape(*each, around));
      return points;
    }
    case Choice::none:
    case Choice::along_one: break;
  }
  return selected(index, shape(*index.base, around), around);
}

Shape KnownShapes::selected(const ast::Index& index, const Shape& array, Surroundings around) {
  Shape found;
  for (std::size_t axis = 0; axis < array.size(); ++axis) {
    const ast::Expr* const entry = axis < index.indices.size() ? index.indices[axis].get() : nullptr;
    around.end = array[axis];
    if (entry == nullptr) {
      found.push_back(array[axis]);
    } else if (entry->kind == ExprKind::Slice) {
      const auto& slice = as<ast::Slice>(*entry);
      if (is_open(slice)) {
        found.push_back(array[axis]);
        continue;
      }
      const auto last = array[axis] == any_extent ? std::nullopt : std::optional(array[axis] - 1);
      found.push_back(count_of(slice.low == nullptr ? std::optional<std::int64_t>(0) : number(*slice.low, around),
                               slice.high == nullptr ? last : number(*slice.high, around),
                               slice.step == nullptr ? std::optional<std::int64_t>(1) : number(*slice.step, around)));
    } else if (context_.store().is_dense(entry->type)) {
      const bool is_mask = context_.store().dense_element(entry->type) == TypeStore::boolean;
      found.push_back(is_mask ? any_extent : shape(*entry, around)[0]);
    }
  }
  return found;
}

std::unordered_map<VariableId, std::int64_t> KnownShapes::inputs_of(const ast::Call& call, Surroundings around) {
  std::unordered_map<VariableId, std::int64_t> known;
  const auto& inputs = context_.program.functions[call.callee_index].definition->inputs;
  for (std::size_t i = 0; i < std::min(inputs.size(), call.resolved_arguments.size()); ++i) {
    const ast::Expr* const argument = call.resolved_arguments[i];
    if (argument == nullptr) continue;
    const Shape array = shape(*argument, around);
    for (std::size_t axis = 0; axis < std::min(array.size(), inputs[i].extents.size()); ++axis)
      if (inputs[i].extents[axis] != ast::no_variable && array[axis] != any_extent)
        known.emplace(inputs[i].extents[axis], array[axis]);
    if (inputs[i].variable == ast::no_variable || context_.store().base(argument->type) != TypeStore::int_) continue;
    if (const auto value = number(*argument, around)) known.emplace(inputs[i].variable, *value);
  }
  return known;
}

std::vector<const ast::Expr*> KnownShapes::lifted_arguments(const ast::Call& call) const {
  std::vector<const ast::Expr*> found;
  for (std::size_t i = 0; i < call.resolved_arguments.size(); ++i) {
    const bool is_whole =
        call.callee_kind == ast::CalleeKind::function &&
        context_.store().is_dense(context_.program.functions[call.callee_index].definition->inputs[i].resolved_type);
    if (call.resolved_arguments[i] != nullptr && !is_whole) found.push_back(call.resolved_arguments[i]);
  }
  return found;
}

Shape KnownShapes::shape_of_output(const ast::Call& call, std::size_t output, Surroundings around) {
  if (find_annotation(call.annotations, "default") != nullptr) return {};
  if (call.is_lifted) {
    Shape all;
    for (const ast::Expr* argument : lifted_arguments(call)) all = joined(all, shape(*argument, around));
    return all;
  }
  if (call.callee_kind != ast::CalleeKind::function) return {};
  const auto& outputs = context_.program.functions[call.callee_index].definition->outputs;
  if (output >= outputs.size() || outputs[output].variable == ast::no_variable) return {};
  const ast::Formal& formal = outputs[output];
  const auto inputs = inputs_of(call, around);
  const ast::Dimension* const dimension = extents_of(formal.type, formal.dimensions);
  Shape found;
  if (dimension != nullptr && context_.store().is_dense(formal.resolved_type))
    found = extents(*dimension, {.inputs = &inputs});
  else
    found = declared(formal.variable);
  const Shape& made = known(formal.variable).shape;
  for (std::size_t axis = 0; axis < found.size() && made.size() == found.size(); ++axis)
    if (found[axis] == any_extent) found[axis] = made[axis];
  return found;
}

}  // namespace raddle::check_detail
