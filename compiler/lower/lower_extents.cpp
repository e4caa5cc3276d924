// Extents of whole-array expressions: those that operands have in common, and what is stretched to them.
#include <algorithm>
#include <utility>

#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ir::OpKind;

bool FunctionLowering::has_extents_of(const Lifted& of, const Stretched& read) const {
  const auto last = of.extents.begin() + static_cast<std::ptrdiff_t>(first_axis(of, read));
  return std::equal(read.extents.begin(), read.extents.end(), last,
                    [this](ir::Operand left, ir::Operand right) { return is_same_extent(left, right); });
}

bool FunctionLowering::is_one(ir::Operand extent) { return known_extent(extent) == int_constant(1); }

bool FunctionLowering::is_sure_to_stretch(const Lifted& of, const Stretched& read) {
  for (std::size_t axis = 0; axis < read.extents.size(); ++axis)
    if (is_one(read.extents[axis]) && !is_one(of.extents[first_axis(of, read) + axis])) return true;
  return false;
}

/// The extents that the operands have in common; where that is not sure, it is found when the script runs.
/// @param written  where each operand is
Lifted FunctionLowering::joined(const std::vector<Lifted>& operands, const std::vector<Span>& written,
                                std::string_view what, Span span) {
  Lifted made;
  std::string name;  // of the one whose extents these are
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Lifted& operand = operands[i];
    if (operand.extents.empty()) continue;
    made.is_flat = made.is_flat && operand.is_flat;
    made.read.insert(made.read.end(), operand.read.begin(), operand.read.end());
    const bool is_first = made.extents.empty();
    const NamedShape next{operand.extents, short_text(written[i])};
    made.extents = is_first ? operand.extents : joint_extents({made.extents, name}, next, what, span);
    name = is_first || are_same_extents(made.extents, operand.extents) ? next.name : "";
  }
  return made;
}

FunctionLowering::Operands FunctionLowering::joint_extents(const NamedShape& one, const NamedShape& other,
                                                           std::string_view what, Span span) {
  const Operands &first = one.extents, &second = other.extents;
  const std::size_t rank = std::max(first.size(), second.size());
  Operands joint;
  ir::Operand before = int_constant(0);  // of the axes before: where these do not fit, that is told once
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t missing_first = rank - first.size(), missing_second = rank - second.size();
    if (axis < missing_first || axis < missing_second) {
      joint.push_back(axis < missing_first ? second[axis] : first[axis]);
      continue;
    }
    const ir::Operand a = first[axis - missing_first], b = second[axis - missing_second];
    if (is_same_extent(a, b) || is_one(a) || is_one(b)) {
      joint.push_back(is_one(a) ? b : a);
      continue;
    }
    Operands operands = {text_constant(std::string(what)),
                         a,
                         b,
                         text_constant(one.name),
                         text_constant(other.name),
                         before,
                         int_constant(static_cast<std::int64_t>(first.size()))};
    operands.insert(operands.end(), first.begin(), first.end());
    operands.insert(operands.end(), second.begin(), second.end());
    before = call_builtin_named("@joint_extent", std::move(operands), TypeStore::int_, span);
    joint.push_back(before);
  }
  return joint;
}

/// For what has other extents than the expression. @return false: nothing has
bool FunctionLowering::make_factors(const Lifted& of, Span span) {
  bool stretches = false;
  for (const auto& read : of.read) {
    read->factors.assign(read->extents.size(), ir::Operand());
    for (std::size_t axis = 0; axis < read->extents.size(); ++axis) {
      if (is_same_extent(read->extents[axis], of.extents[first_axis(of, *read) + axis])) continue;
      stretches = true;
      if (is_one(read->extents[axis])) {
        read->factors[axis] = int_constant(0);
        continue;
      }
      const ir::Operand differs =
          emit_value(OpKind::ne, {read->extents[axis], int_constant(1)}, TypeStore::boolean, span);
      read->factors[axis] = call_builtin_named("bool2int", {differs}, TypeStore::int_, span);
    }
  }
  return stretches;
}

/// True when the script runs if nothing that is read is stretched, but for what is sure to be. Index none: it is sure
/// that nothing else is.
ir::Operand FunctionLowering::nothing_stretches(const Lifted& of, Span span) {
  ir::Operand all;
  for (const auto& read : of.read) {
    for (std::size_t axis = 0; axis < read->extents.size(); ++axis) {
      const ir::Operand wanted = of.extents[first_axis(of, *read) + axis];
      if (is_same_extent(read->extents[axis], wanted) || is_one(read->extents[axis])) continue;
      const ir::Operand same = emit_value(OpKind::eq, {read->extents[axis], wanted}, TypeStore::boolean, span);
      all = all.index == ir::none ? same : emit_value(OpKind::and_, {all, same}, TypeStore::boolean, span);
    }
  }
  return all;
}

}  // namespace raddle::lowering
