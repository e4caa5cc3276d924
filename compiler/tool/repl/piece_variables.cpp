// What a piece does to the variables of the session.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/check/resolve_types.hpp"
#include "compiler/parse/lexemes.hpp"
#include "compiler/tool/repl/piece_compiler.hpp"

namespace raddle::tool::repl {

std::shared_ptr<LiveVariable> PieceCompiler::variable_for(const Attempt& attempt, const Compilation& compilation,
                                                          ast::VariableId id, Piece& piece) {
  const Variable& checked = compilation.checked->variables[id];
  if (const auto hidden = attempt.hidden.find(checked.name); hidden != attempt.hidden.end()) return hidden->second;
  const auto known = variables_.find(checked.name);
  if (known != variables_.end()) {
    const Span declared = known->second->declared;
    if (declared.file == checked.span.file && declared.begin == checked.span.begin) return known->second;
  }
  const bool is_value =
      checked.span.file == attempt.file && attempt.frame.value_count > 0 && checked.name.starts_with(value_name);
  auto variable = std::make_shared<LiveVariable>();
  variable->name = is_value ? "ans" + checked.name.substr(value_name.size()) : checked.name;
  variable->type = compilation.checked->types.name(checked.type);
  variable->declared = checked.span;
  if (is_value && !attempt.is_silent) piece.values.push_back(variable);
  if (known != variables_.end()) piece.redefined.push_back(checked.name);
  return variable;
}

void PieceCompiler::bind(const Attempt& attempt, Piece& piece) {
  const Compilation& compilation = *piece.compilation;
  const CheckedProgram& checked = *compilation.checked;
  for (const ScriptParameter& each : checked.parameters)
    piece.inputs.push_back(variable_for(attempt, compilation, each.variable, piece));
  for (const ScriptResult& each : checked.results) {
    piece.outputs.push_back(variable_for(attempt, compilation, each.variable, piece));
    piece.outputs.back()->declaration.clear();  // it is written now
    piece.outputs.back()->read.clear();
  }
  for (const LiveVariables* some : {&piece.inputs, &piece.outputs})
    for (const auto& variable : *some) {
      // an earlier variable of this name may still be read here: the one declared last is meant from now on
      const auto is_it = [&](const auto& each) { return each.second == variable; };
      if (std::ranges::any_of(attempt.hidden, is_it)) continue;
      const auto known = variables_.find(variable->name);
      const bool is_older = known != variables_.end() && variable->declared.file != attempt.file &&
                            known->second->declared.file == attempt.file;
      if (!is_older) variables_[variable->name] = variable;
    }
  keep_declaration(attempt, piece);
  for (const auto& module : checked.modules)
    if (module != checked.modules.back()) modules_run_.insert(module->file);
}

/// `file f<"path">;`, `float a[n];` and `float T[][n];` alone: whoever writes them later needs the path, or the
/// extents, too.
void PieceCompiler::keep_declaration(const Attempt& attempt, Piece& piece) {
  const CheckedProgram& checked = *piece.compilation->checked;
  for (const ast::StmtPtr& statement : checked.modules.back()->statements.statements) {
    if (statement->kind != ast::StmtKind::Declaration) continue;
    const auto& declaration = ast::as<const ast::Declaration>(*statement);
    for (const ast::Declarator& each : declaration.declarators) {
      const bool has_extents = check_detail::has_dense_inside(checked.types, checked.variables[each.variable].type);
      if ((!each.mapping && !has_extents) || each.value || each.name.span.file != attempt.file) continue;
      const auto is_it = [&](const ScriptResult& result) { return result.variable == each.variable; };
      if (std::ranges::any_of(checked.results, is_it)) continue;
      auto variable = std::make_shared<LiveVariable>();
      variable->name = each.name.text;
      variable->type = checked.types.name(checked.variables[each.variable].type);
      variable->declared = each.name.span;
      variable->declaration =
          fmt::format("{} {}", text_at(session_.sources, declaration.type.span), text_at(session_.sources, each.span));
      for (const Lexeme& lexeme : lexemes_of(variable->declaration)) {
        const auto named = variables_.find(variable->declaration.substr(lexeme.begin, lexeme.end - lexeme.begin));
        const bool is_word =
            lexeme.kind == LexemeKind::word && named != variables_.end() && named->first != variable->name;
        if (is_word && std::ranges::find(variable->read, named->second) == variable->read.end())
          variable->read.push_back(named->second);
      }
      variables_[variable->name] = variable;
    }
  }
}

}  // namespace raddle::tool::repl
