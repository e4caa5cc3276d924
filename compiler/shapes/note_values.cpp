// Of each variable, where it is declared and what is assigned to it as a whole.
#include "compiler/check/annotations.hpp"
#include "compiler/check/resolve_types.hpp"
#include "compiler/shapes/known_shapes.hpp"

namespace raddle::check_detail {

using ast::as;
using ast::StmtKind;

KnownShapes::KnownShapes(const Context& context) : context_(context), entries_(context.program.variables.size()) {
  for (const auto& module : context.program.modules) {
    if (context.sources.at(module->file).is_of_library()) continue;
    note_block(module->statements);
    for (const auto& function : module->functions) {
      for (const ast::Formal& each : function->inputs) note_formal(each);
      for (const ast::Formal& each : function->outputs) note_formal(each);
      if (function->block != nullptr) note_block(*function->block);
    }
  }
}

void KnownShapes::note_formal(const ast::Formal& formal) {
  if (formal.variable != ast::no_variable) note_dimension(formal.variable, formal.type, formal.dimensions);
}

void KnownShapes::note_dimension(VariableId id, const ast::TypeExpr& type,
                                 const std::vector<ast::Dimension>& dimensions) {
  const ast::Dimension* const found = extents_of(type, dimensions);
  if (found != nullptr && found->is_of_extents) entries_[id].dimension = found;
}

void KnownShapes::note_value(VariableId id, const ast::Expr* value, std::size_t output) {
  if (id == ast::no_variable) return;
  Entry& entry = entries_[id];
  ++entry.writes;
  entry.value = value;
  entry.output = output;
}

void KnownShapes::note_block(const ast::Block& block) {
  for (const ast::StmtPtr& statement : block.statements) note(*statement);
}

void KnownShapes::note_declaration(const ast::Declaration& declaration) {
  const bool is_parameter = find_annotation(declaration.annotations, "param") != nullptr;
  for (const ast::Declarator& each : declaration.declarators) {
    if (each.variable == ast::no_variable) continue;
    note_dimension(each.variable, declaration.type, each.dimensions);
    if (each.value != nullptr) note_value(each.variable, is_parameter ? nullptr : each.value.get());
  }
}

void KnownShapes::note_assignment(const ast::Assign& assign) {
  for (std::size_t i = 0; i < assign.targets.size(); ++i) {
    if (assign.targets[i]->kind != ast::ExprKind::Name) continue;
    const VariableId id = as<ast::Name>(*assign.targets[i]).variable;
    if (assign.values.size() == assign.targets.size())
      note_value(id, assign.values[i].get());
    else
      note_value(id, assign.values.front().get(), i);
  }
}

void KnownShapes::note(const ast::Stmt& statement) {
  switch (statement.kind) {
    case StmtKind::Declaration: return note_declaration(as<ast::Declaration>(statement));
    case StmtKind::Assign: return note_assignment(as<ast::Assign>(statement));
    case StmtKind::Block: return note_block(as<ast::Block>(statement));
    case StmtKind::If:
      note_block(*as<ast::If>(statement).then_block);
      if (as<ast::If>(statement).else_block != nullptr) note(*as<ast::If>(statement).else_block);
      return;
    case StmtKind::Switch:
      for (const ast::Switch::Case& each : as<ast::Switch>(statement).cases) note_block(*each.block);
      return;
    case StmtKind::Foreach: {
      const auto& loop = as<ast::Foreach>(statement);
      note_value(loop.value_variable, loop.iterable.get());
      if (loop.value_variable != ast::no_variable) entries_[loop.value_variable].is_row = true;
      return note_block(*loop.body);
    }
    case StmtKind::For: {
      const auto& loop = as<ast::For>(statement);
      for (const ast::For::Variable& each : loop.variables) {
        if (each.type && each.variable != ast::no_variable) note_dimension(each.variable, *each.type, {});
        note_value(each.outer, nullptr);
      }
      return note_block(*loop.body);
    }
    case StmtKind::Iterate: return note_block(*as<ast::Iterate>(statement).body);
    case StmtKind::Wait: return note_block(*as<ast::Wait>(statement).body);
    case StmtKind::Try:
      note_block(*as<ast::Try>(statement).body);
      return note_block(*as<ast::Try>(statement).otherwise);
    case StmtKind::Chain:
      for (const ast::StmtPtr& link : as<ast::Chain>(statement).links) note(*link);
      return;
    case StmtKind::Append:
    case StmtKind::Update:
    case StmtKind::Evaluate:
    case StmtKind::Empty: return;
  }
}

}  // namespace raddle::check_detail
