#include "compiler/check/scopes.hpp"

#include <algorithm>

namespace raddle::check_detail {

void suggest(Diagnostic& diagnostic, std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) diagnostic.note("did you mean `" + nearest + "`?");
}

VariableId Scopes::find(const std::string& name) const {
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    if (const auto found = level->find(name); found != level->end()) return found->second;
  if (context_.function != nullptr && context_.is_of_library(context_.function->name.span))
    if (const auto own = context_.globals_of_library.find(name); own != context_.globals_of_library.end())
      return own->second;
  const auto global = context_.globals.find(name);
  return global == context_.globals.end() ? ast::no_variable : global->second;
}

bool Scopes::report_taken(const ast::Identifier& name) {
  if (at_top_level()) {
    const auto callable = context_.callables.find(name.text);
    // a call is told from a variable by its parenthesis: names of the library's functions are free
    const auto is_of_script = [this](const Signature& each) {
      return each.kind != ast::CalleeKind::builtin && !context_.is_of_library(each.span);
    };
    if (callable != context_.callables.end() && std::ranges::any_of(callable->second, is_of_script)) {
      const Signature& function = *std::ranges::find_if(callable->second, is_of_script);
      Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::name_is_function, name.span, name.text);
      if (function.kind == ast::CalleeKind::function) diagnostic.label(function.span, "function defined here");
      diagnostic.note("choose another name; variables inside of functions and blocks can have it");
      return true;
    }
  }
  const VariableId other = find(name.text);
  if (other == ast::no_variable) return false;
  if (context_.is_of_earlier_piece(other)) return false;  // this one is meant from now on, or in this block
  const Span there = context_.variable(other).span;
  const bool is_global = context_.globals.contains(name.text) && context_.globals.at(name.text) == other;
  if (in_function_ && is_global) {
    report_hiding(name, other);
    return false;
  }
  if (at_top_level() && context_.is_of_library(there) && !context_.is_of_library(name.span)) {
    report_hiding(name, other);
    return false;
  }
  const bool same_scope = is_global ? levels_.size() == 1 : levels_.back().contains(name.text);
  context_.diagnostics
      .report(same_scope ? DiagnosticKind::redeclared : DiagnosticKind::hides_local, name.span, name.text)
      .label(there, "first declared here");
  context_.silenced.insert(other);
  return true;
}

void Scopes::report_hiding(const ast::Identifier& name, VariableId global) {
  const Span there = context_.variable(global).span;
  const bool declared_before =
      name.span.file == there.file ? there.begin < name.span.begin : name.span.file == context_.main_file;
  if (!declared_before || !hiding_.insert(name.text).second) return;
  context_.diagnostics.report(DiagnosticKind::hides_global, name.span, name.text)
      .label(there, "top-level variable declared here");
}

VariableId Scopes::declare(const ast::Identifier& name, TypeId type, VariableRole role) {
  const bool taken = report_taken(name);
  const VariableId id = context_.add_variable(name, type, role);
  if (taken || reported_.contains(name.text)) context_.silenced.insert(id);
  if (const auto made = made_inside_.back().find(name.text); made != made_inside_.back().end())
    context_.made_before.emplace(id, made->second);
  if (at_top_level()) {
    if (const VariableId other = find(name.text); other != ast::no_variable && !context_.is_of_library(name.span) &&
                                                  context_.is_of_library(context_.variable(other).span))
      context_.globals_of_library.emplace(name.text, other);
    context_.globals[name.text] = id;
  } else {
    levels_.back()[name.text] = id;
  }
  return id;
}

std::vector<std::string> Scopes::names() const {
  std::vector<std::string> names;
  for (const auto& level : levels_)
    for (const auto& [name, id] : level) names.push_back(name);
  for (const auto& [name, id] : context_.globals) names.push_back(name);
  return names;
}

}  // namespace raddle::check_detail
