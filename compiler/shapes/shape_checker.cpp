#include "compiler/shapes/shape_checker.hpp"

#include <algorithm>

namespace raddle::check_detail {

using ast::as;
using ast::ExprKind;
using ast::StmtKind;
using stdlib::any_extent;

template <typename Walk>
void ShapeChecker::within(Certainty certainty, const Walk& walk) {
  const Certainty around = certainty_;
  certainty_ = std::max(around, certainty);
  walk();
  certainty_ = around;
}

void ShapeChecker::statements(const ast::Block& block, Certainty certainty) {
  within(certainty, [&] {
    for (const ast::StmtPtr& each : block.statements) statement(*each);
  });
}

void ShapeChecker::statement(const ast::Stmt& statement) {
  switch (statement.kind) {
    case StmtKind::Declaration: return declaration(as<ast::Declaration>(statement));
    case StmtKind::Assign: return assignment(as<ast::Assign>(statement));
    case StmtKind::Append: {
      const auto& append = as<ast::Append>(statement);
      expression(*append.value);
      const std::string name = "an element of `" + short_text(append.target->span) + "`";
      return check_fit(*append.value, known_.shape(*append.value), wanted_at(*append.target, name, append.value->span));
    }
    case StmtKind::Update: return expression(*as<ast::Update>(statement).value);
    case StmtKind::Evaluate: return expression(*as<ast::Evaluate>(statement).expr);
    case StmtKind::If: return branch(as<ast::If>(statement));
    case StmtKind::Switch: return switch_(as<ast::Switch>(statement));
    case StmtKind::Foreach: return foreach_(as<ast::Foreach>(statement));
    case StmtKind::For: return for_(as<ast::For>(statement));
    case StmtKind::Iterate:
      statements(*as<ast::Iterate>(statement).body, Certainty::sure);
      return expression(*as<ast::Iterate>(statement).until);
    case StmtKind::Wait:
      for (const ast::ExprPtr& awaited : as<ast::Wait>(statement).awaited) expression(*awaited);
      return statements(*as<ast::Wait>(statement).body, Certainty::sure);
    case StmtKind::Try:
      statements(*as<ast::Try>(statement).body, Certainty::tolerated);
      return statements(*as<ast::Try>(statement).otherwise, Certainty::possible);
    case StmtKind::Chain:
      for (const ast::StmtPtr& link : as<ast::Chain>(statement).links) this->statement(*link);
      return;
    case StmtKind::Block: return statements(as<ast::Block>(statement), Certainty::sure);
    case StmtKind::Empty: return;
  }
}

void ShapeChecker::declaration(const ast::Declaration& declaration) {
  for (const ast::Declarator& each : declaration.declarators) {
    for (const ast::Dimension& dimension : each.dimensions)
      for (const ast::ExprPtr& entry : dimension.entries) expression(*entry);
    if (each.mapping != nullptr) expression(*each.mapping);
    if (each.value == nullptr) continue;
    expression(*each.value);
    if (each.variable != ast::no_variable)
      check_fit(*each.value, known_.shape(*each.value),
                {known_.declared(each.variable), "`" + each.name.text + "`", each.name.span, each.value->span});
  }
}

void ShapeChecker::assignment(const ast::Assign& assign) {
  for (const ast::ExprPtr& value : assign.values) expression(*value);
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    const ast::Expr& target = *assign.targets[i];
    expression(target);
    const bool is_call = assign.values.size() != assign.targets.size();
    const ast::Expr& value = is_call ? *assign.values.front() : *assign.values[i];
    const Shape found = is_call
                            ? value.kind == ExprKind::Call ? known_.shape_of_output(as<ast::Call>(value), i) : Shape()
                            : known_.shape(value);
    const bool is_slice = target.kind == ExprKind::Index &&
                          context_.store().is_dense(context_.store().base(as<ast::Index>(target).base->type));
    if (!is_slice) {
      const bool is_variable = target.kind == ExprKind::Name;
      check_fit(value, found,
                wanted_at(target, "`" + short_text(target.span) + "`", is_variable ? value.span : target.span));
      continue;
    }
    const Shape slice = known_.shape(target);
    bool fits = found.size() <= slice.size();
    for (std::size_t axis = 0; fits && axis < found.size(); ++axis) {
      const std::int64_t there = slice[slice.size() - found.size() + axis];
      fits = found[axis] == there || found[axis] == 1 || found[axis] == any_extent || there == any_extent;
    }
    if (fits) continue;
    Diagnostic* const told =
        report(DiagnosticKind::shape_mismatch, target.span, stdlib::unfit_slice_text(found, slice));
    tell_origin(told, target);
    tell_origin(told, value);
  }
}

void ShapeChecker::branch(const ast::If& branch) {
  expression(*branch.condition);
  const auto taken = known_.truth(*branch.condition);
  const Certainty certainty = taken ? Certainty::sure : Certainty::possible;
  if (taken.value_or(true)) statements(*branch.then_block, certainty);
  if (branch.else_block != nullptr && !taken.value_or(false)) within(certainty, [&] { statement(*branch.else_block); });
}

void ShapeChecker::switch_(const ast::Switch& written) {
  expression(*written.value);
  const auto value = known_.number(*written.value);
  const auto is_it = [&](const ast::Switch::Case& each) { return each.label == value; };
  const bool is_labelled = value && std::ranges::any_of(written.cases, is_it);
  for (const ast::Switch::Case& each : written.cases) {
    if (!value)
      statements(*each.block, Certainty::possible);
    else if (is_labelled ? is_it(each) : !each.label)
      statements(*each.block, Certainty::sure);
  }
}

void ShapeChecker::foreach_(const ast::Foreach& loop) {
  expression(*loop.iterable);
  Shape visited = known_.shape(*loop.iterable);
  if (loop.iterable->kind == ExprKind::Range) visited = known_.shape_of_literal(*loop.iterable);
  const std::int64_t count = visited.empty() ? any_extent : visited.front();
  if (count != 0) statements(*loop.body, count == any_extent ? Certainty::possible : Certainty::sure);
}

void ShapeChecker::for_(const ast::For& loop) {
  for (const ast::For::Variable& each : loop.variables) {
    const VariableId id = each.outer != ast::no_variable ? each.outer : each.variable;
    const auto check = [&](const ast::Expr& value) {
      expression(value);
      if (id != ast::no_variable)
        check_fit(value, known_.shape(value),
                  {known_.declared(id), "`" + each.name.text + "`", context_.variable(id).span, value.span});
    };
    if (each.initial != nullptr) check(*each.initial);
    if (each.update != nullptr) within(Certainty::possible, [&] { check(*each.update); });
  }
  expression(*loop.condition);
  statements(*loop.body, Certainty::possible);
}

}  // namespace raddle::check_detail
