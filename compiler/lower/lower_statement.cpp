#include <algorithm>

#include "compiler/check/resolve_types.hpp"
#include "compiler/lower/lower_function.hpp"

namespace raddle::lowering {

using ast::as;
using ast::StmtKind;
using ir::OpKind;

void FunctionLowering::lower_block(const ast::Block& block) {
  for (const ast::StmtPtr& inner : block.statements) statement(*inner);
}

void FunctionLowering::statement(const ast::Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Declaration: return declaration(as<ast::Declaration>(stmt));
    case StmtKind::Assign: return assign(as<ast::Assign>(stmt));
    case StmtKind::Append: return append(as<ast::Append>(stmt));
    case StmtKind::Update: return update(as<ast::Update>(stmt));
    case StmtKind::Evaluate: return evaluate(as<ast::Evaluate>(stmt));
    case StmtKind::If: return branch(as<ast::If>(stmt));
    case StmtKind::Switch: return branch(as<ast::Switch>(stmt));
    case StmtKind::Foreach: return foreach (as<ast::Foreach>(stmt));
    case StmtKind::For: return for_loop(as<ast::For>(stmt));
    case StmtKind::Iterate: return iterate(as<ast::Iterate>(stmt));
    case StmtKind::Wait: return wait(as<ast::Wait>(stmt));
    case StmtKind::Try: return try_(as<ast::Try>(stmt));
    case StmtKind::Chain: return chain(as<ast::Chain>(stmt));
    case StmtKind::Block: return lower_block(as<ast::Block>(stmt));
    case StmtKind::Empty: return;
  }
}

void FunctionLowering::declaration(const ast::Declaration& declaration) {
  outputs_.clear();
  for (const ast::Declarator& declarator : declaration.declarators) {
    const Variable& checked = context_.program.variables[declarator.variable];
    const ir::VarId variable = declare(declarator.variable);
    const std::vector<ir::VarId>& parameters = function().parameters;
    if (std::ranges::find(parameters, variable) != parameters.end()) continue;  // `@param`: from the command line
    if (declarator.mapping) {
      emit(OpKind::file_new, {value(*declarator.mapping)}, {variable}, declarator.span).number =
          (checked.replaces_file ? 1 : 0) + 2 * checked.ordered_levels;
      files_with_object_.insert(variable);
    }
    declare_extents(declarator.variable, check_detail::extents_of(declaration.type, declarator.dimensions));
    if (checked.written_by_element) create_container(declarator.variable, variable);
    if (!declarator.value) continue;
    const bool starts_as_number = types().kind(types().base(declarator.value->type)) != TypeKind::updateable;
    if (types().kind(checked.type) == TypeKind::updateable && starts_as_number) {
      emit(OpKind::update_new, {converted(value(*declarator.value), TypeStore::float_, declarator.span)}, {variable},
           declarator.span);
    } else {
      initialise(variable, *declarator.value);
    }
    outputs_.push_back(ir::Operand::variable(variable));
  }
}

void FunctionLowering::append(const ast::Append& append) {
  const ir::Operand bag = container(*append.target);
  const ir::Operand element = converted(value(*append.value), types().at(type_of(bag)).element, append.span);
  const std::string name = "an element of `" + short_text(append.target->span) + "`";
  const ir::Operand fits = fitted(element, extents_inside(*append.target), name, append.span);
  emit(OpKind::bag_append, {bag, fits}, {}, append.span);
}

void FunctionLowering::update(const ast::Update& update) {
  const ir::Operand target = ir::Operand::variable(variable_of(update.variable));
  refuse_update(target, update.span);
  const ir::Operand operand = converted(value(*update.value), TypeStore::float_, update.span);
  const ir::VarId done = temporary(TypeStore::void_, update.span);
  const std::int64_t mode = update.mode.text == "incr" ? 0 : update.mode.text == "min" ? 1 : 2;
  emit(OpKind::update, {target, operand}, {done}, update.span).number = mode;
}

void FunctionLowering::evaluate(const ast::Evaluate& evaluate) {
  if (evaluate.expr->kind == ast::ExprKind::Call)
    outputs_ = call(as<ast::Call>(*evaluate.expr), {});
  else
    outputs_ = {awaitable(*evaluate.expr)};
}

/// Variables that it makes in parts, where another branch assigns them whole, are assigned whole at its end.
void FunctionLowering::lower_branch(const ast::Stmt& branch) {
  const auto found = context_.program.collected.find(&branch);
  if (found == context_.program.collected.end()) return statement(branch);
  std::vector<ir::VarId> outer;
  for (const ast::VariableId variable : found->second) {
    outer.push_back(variable_of(variable));
    const ir::Var whole = function().variables[outer.back()];
    variables_[variable] = local(whole.name, whole.type, whole.span, region_);
    take_extents(outer.back(), variables_[variable]);
    create_container(variable, variables_[variable]);
  }
  statement(branch);
  for (std::size_t i = 0; i < outer.size(); ++i) {
    const ast::VariableId variable = found->second[i];
    const ir::VarId made = std::exchange(variables_[variable], outer[i]);
    emit(OpKind::copy, {ir::Operand::variable(made)}, {outer[i]}, branch.span);
  }
}

void FunctionLowering::branch(const ast::If& branch) {
  const ir::Operand chosen = condition(*branch.condition);
  std::vector<ir::RegionId> regions{in_region([&] { lower_branch(*branch.then_block); })};
  if (branch.else_block) regions.push_back(in_region([&] { lower_branch(*branch.else_block); }));
  emit(OpKind::if_, {chosen}, {}, branch.span).regions = std::move(regions);
}

void FunctionLowering::branch(const ast::Switch& branch) {
  const ir::Operand chosen = value(*branch.value);
  std::vector<std::int64_t> labels;
  std::vector<ir::RegionId> regions;
  for (const ast::Switch::Case& one : branch.cases) {  // `default` is the last one: check has made sure of it
    if (one.label) labels.push_back(*one.label);
    regions.push_back(in_region([&] { lower_branch(*one.block); }));
  }
  ir::Op& op = emit(OpKind::switch_, {chosen}, {}, branch.span);
  op.labels = std::move(labels);
  op.regions = std::move(regions);
}

/// An updateable itself, and not its value at the moment: see lower/await_updates.hpp.
ir::Operand FunctionLowering::awaitable(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::Name && types().kind(expr.type) == TypeKind::updateable)
    return ir::Operand::variable(variable_of(as<ast::Name>(expr).variable));
  return value(expr);
}

void FunctionLowering::wait(const ast::Wait& wait) {
  Operands awaited;
  for (const ast::ExprPtr& expr : wait.awaited) awaited.push_back(awaitable(*expr));
  const auto body = [&] { lower_block(*wait.body); };
  if (!wait.deep) return wait_for(awaited, body, wait.span);
  const ir::RegionId region = in_region(body);
  emit(OpKind::wait_deep, elements_of(std::move(awaited)), {}, wait.span).regions = {region};
}

/// A dense array is one value: it is there when all of its elements are, and none of them has failed.
void FunctionLowering::wait_for(const Operands& awaited, const std::function<void()>& then, Span span, bool has_scope) {
  Operands dense, others;
  for (const ir::Operand& operand : awaited) (types().is_dense(type_of(operand)) ? dense : others).push_back(operand);
  const auto wait_deep = [&] {
    const ir::RegionId region = in_region(then, has_scope);
    emit(OpKind::wait_deep, elements_of(dense), {}, span).regions = {region};
  };
  if (!dense.empty() && others.empty()) return wait_deep();
  const ir::RegionId region = dense.empty() ? in_region(then, has_scope) : in_region(wait_deep, has_scope);
  emit(OpKind::wait, std::move(others), {}, span).regions = {region};
}

// The links of a piece nest, as each waits for the one before. Pieces stand side by side, so that no chain is too long
// for what follows the nesting by recursion: each waits for a void that the end of the one before assigns.
void FunctionLowering::chain(const ast::Chain& chain) {
  Operands gate;
  for (std::size_t begin = 0; begin < chain.links.size(); begin += ast::nested_links) {
    const Operands before = std::exchange(gate, {});
    if (begin + ast::nested_links < chain.links.size())
      gate = {ir::Operand::variable(local("", TypeStore::void_, chain.span, scope_))};
    if (begin == 0)
      chain_from(chain, 0, gate);
    else
      chain_after(before, chain, begin, gate);
  }
}

// Each link waits for the outputs of the one before; variables declared in a chain belong to the scope around it.
// @param gate  to be assigned at the end of the piece; none: it is the last one
void FunctionLowering::chain_from(const ast::Chain& chain, std::size_t link, const Operands& gate) {
  outputs_.clear();
  const bool is_last = link + 1 == chain.links.size();
  is_awaited_ = !is_last;
  statement(*chain.links[link]);
  is_awaited_ = false;
  if (is_last) return;
  const Operands awaited = std::exchange(outputs_, {});
  if ((link + 1) % ast::nested_links != 0) return chain_after(awaited, chain, link + 1, gate);
  const Span span = chain.links[link]->span;
  const auto end = [&] {
    emit(OpKind::call_builtin, {}, {gate.front().index}, span).callee = builtin_named("propagate");
  };
  wait_for(awaited, end, span);
}

void FunctionLowering::chain_after(const Operands& awaited, const ast::Chain& chain, std::size_t link,
                                   const Operands& gate) {
  const bool has_scope = link + 1 == chain.links.size() && chain.links[link]->kind == StmtKind::Block;
  wait_for(
      awaited, [&] { chain_from(chain, link, gate); }, chain.links[link]->span, has_scope);
}

}  // namespace raddle::lowering
