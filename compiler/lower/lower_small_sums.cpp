// Sums and means of small slices: `mean(u[i-1 : i+1, j-1 : j+1])`. Where it is written how many elements each dimension
// has, and these are few, there is no array and no loop: the elements are added one after the other. So a stencil is
// one index launch.
//
// Note [small sums]. The order is part of the language, as it says what the last digit is: along the first axis first,
// along the last one last. So the sums that are added last are those of neighbours in a row, too, which machine code
// computes once for all (Note [shared windows] in codegen/shared_windows.hpp).
#include <functional>
#include <optional>

#include "compiler/lower/lower_function.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::lowering {

using ast::as;
using ast::ExprKind;
using ir::OpKind;

namespace {

/// How many elements a dimension has in a slice, if that is written there; of an index one.
std::optional<std::int64_t> count_of(const ast::Expr& entry) {
  if (entry.kind != ExprKind::Slice) return 1;
  const std::optional<SliceLength> length = length_of(as<ast::Slice>(entry));
  return length ? length->count() : std::nullopt;
}

}  // namespace

std::optional<ir::Operand> FunctionLowering::small_sum(const ast::Call& call, ir::VarId target) {
  constexpr std::int64_t most = 8;  // elements of a dimension
  const bool is_sum = call.callee.text == "sum", is_mean = call.callee.text == "mean" || call.callee.text == "avg";
  const bool is_ours = call.callee_kind == ast::CalleeKind::builtin || is_of_arrays(call);
  if ((!is_sum && !is_mean) || !is_ours || call.resolved_arguments.size() != 1 || !call.annotations.empty() ||
      call.resolved_arguments[0]->kind != ExprKind::Index)
    return std::nullopt;
  const auto& index = as<ast::Index>(*call.resolved_arguments[0]);
  if (!types().is_dense(index.base->type) || choice_in(index) != check_detail::Choice::none) return std::nullopt;
  const TypeId element = types().dense_element(index.base->type);
  if (!TypeStore::is_number(element) || index.indices.size() != types().rank(index.base->type)) return std::nullopt;
  std::vector<std::int64_t> counts;
  std::int64_t count = 1;
  for (const ast::ExprPtr& each : index.indices) {
    const std::optional<std::int64_t> here = count_of(*each);
    if (!here || *here < 1 || *here > most) return std::nullopt;
    counts.push_back(*here);
    count *= *here;
  }
  const Dense of = dense_view(*index.base);
  std::vector<Operands> indices;  // by axis
  for (std::size_t axis = 0; axis < counts.size(); ++axis)
    indices.push_back(indices_of(index, axis, counts[axis], of.extents));
  const TypeId wide = TypeStore::is_int(element) && !is_mean ? TypeStore::int_ : TypeStore::float_;
  Operands at(counts.size());
  Operands elements;  // in their order
  const std::function<void(std::size_t)> read_from = [&](std::size_t axis) {
    if (axis < counts.size()) {
      for (const ir::Operand each : indices[axis]) {
        at[axis] = each;
        read_from(axis + 1);
      }
      return;
    }
    const ir::Operand key = key_of(at, of, index.span);
    const ir::Operand read = emit_value(OpKind::array_get, {of.elements, key}, element, index.span);
    elements.push_back(converted(read, wide, call.span));
  };
  read_from(0);
  for (const std::int64_t along : counts) {
    const std::size_t left = elements.size() / static_cast<std::size_t>(along);
    for (std::size_t i = left; i < elements.size(); ++i) {
      ir::Operand& sum = elements[i % left];
      sum = emit_value(OpKind::add, {sum, elements[i]}, type_of(sum), call.span);
    }
    elements.resize(left);
  }
  const ir::Operand sum = elements[0];
  if (is_sum) return emit_value(OpKind::copy, {sum}, call.type, call.span, target);
  const ir::Operand divisor = ir::Operand::constant(context_.module.constant(static_cast<double>(count)));
  return emit_value(OpKind::div, {sum, divisor}, call.type, call.span, target);
}

/// Those that an axis selects, once they have been checked.
FunctionLowering::Operands FunctionLowering::indices_of(const ast::Index& index, std::size_t axis, std::int64_t count,
                                                        const Operands& extents) {
  const ast::Expr& entry = *index.indices[axis];
  if (entry.kind != ExprKind::Slice) return {checked_index(index, axis, extents)};
  const auto& slice = as<ast::Slice>(entry);
  const ir::Operand first = slice.low ? bracketed(*slice.low, extents[axis]) : int_constant(0);
  const std::int64_t step = length_of(slice)->step;
  Operands made = {first};
  for (std::int64_t i = 1; i < count; ++i)
    made.push_back(emit_value(OpKind::index_add, {first, int_constant(i * step)}, TypeStore::int_, entry.span));
  // those between them are in the array then, too
  made.front() = index_check(made.front(), extents, index, axis);
  if (count > 1) made.back() = index_check(made.back(), extents, index, axis);
  return made;
}

}  // namespace raddle::lowering
