#include "compiler/tool/repl/piece_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/parse/lexemes.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/tool/repl/typed_text.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool::repl {

namespace {

/// What the module ends with; null if it is no expression.
/// @param own  what is defined in it
const ast::Expr* last_expression(const ast::Module& module, const std::vector<Definition>& own) {
  const auto& statements = module.statements.statements;
  if (statements.empty() || statements.back()->kind != ast::StmtKind::Evaluate) return nullptr;
  const ast::Expr* expr = ast::as<const ast::Evaluate>(*statements.back()).expr.get();
  const bool is_last =
      std::ranges::all_of(own, [&](const Definition& each) { return each.span.begin < expr->span.begin; });
  return is_last ? expr : nullptr;
}

/// How many of a checked call's outputs have a value to show.
std::size_t output_count(const ast::Expr& call, const TypeStore& types) {
  const std::vector<TypeId>& outputs = ast::as<const ast::Call>(call).output_types;
  const bool has_value =
      std::ranges::any_of(outputs, [&](TypeId type) { return types.kind(types.base(type)) != TypeKind::void_; });
  return has_value ? outputs.size() : 0;
}

}  // namespace

bool print_findings(const Session& session, std::uint32_t file) {
  bool has_errors = false;
  for (const Diagnostic& each : session.diagnostics.all()) {
    const bool is_error = severity_of(each.kind) == Severity::error;
    has_errors = has_errors || is_error;
    const bool is_of_run = is_error || each.kind == DiagnosticKind::replaced_failure;
    if (!is_of_run && each.span.file != file) continue;  // said when that was typed
    const std::string text = render(each, session.sources, session.colour);
    vm::print_stderr("{}", text);
  }
  return has_errors;
}

bool PieceCompiler::print_findings(std::uint32_t file) { return repl::print_findings(session_, file); }

// ---------------------------------------------------------------- what was typed

PieceCompiler::Attempt PieceCompiler::begin(const Typed& typed) {
  // the lines before are empty: then positions are those of the session
  const std::string above(typed.line - 1, '\n');
  Attempt attempt;
  attempt.file = session_.sources.add(typed.path, above + typed.text);
  const auto begin = static_cast<std::uint32_t>(above.size());
  attempt.typed = {attempt.file, begin, begin + static_cast<std::uint32_t>(typed.text.size())};
  attempt.is_silent = ends_with_semicolon(typed.text);
  attempt.hidden = hidden_variables();
  for (Change& each : changes_in(typed.text)) {
    const auto known = variables_.find(each.name);
    if (known == variables_.end() || !is_assigned(*known->second) || known->second->type.starts_with("bag<")) continue;
    for (std::uint32_t* const place : {&each.begin, &each.end, &each.value_end}) *place += begin;
    attempt.changes.push_back(std::move(each));
  }
  return attempt;
}

/// `_value, _value_2 = `
std::string PieceCompiler::targets(std::size_t count) {
  std::string text(value_name);
  for (std::size_t number = 2; number <= count; ++number) text += fmt::format(", {}_{}", value_name, number);
  return text + " = ";
}

PieceCompiler::Frame PieceCompiler::unended_statements() { return {.before = "", .after = "\n;"}; }

PieceCompiler::Frame PieceCompiler::frame_of_values(std::size_t count, std::uint32_t at) {
  return {.before = targets(count), .after = "\n;", .value_count = count, .at = at};
}

std::pair<Span, Span> PieceCompiler::parts_of(Span typed, const Frame& frame) {
  const std::uint32_t at = typed.begin + frame.at;
  return {{typed.file, typed.begin, at}, {typed.file, at, typed.end}};
}

std::unique_ptr<ast::Module> PieceCompiler::parse_alone(const SourceMap& sources, Span typed, const Frame& frame,
                                                        const std::vector<Change>& changes, Diagnostics& diagnostics) {
  ExpandedText text;
  const Span end{typed.file, typed.end, typed.end};
  const auto add = [&](std::string_view part, Span at) {
    if (!part.empty()) text.append(part, at, PartOrigin::replaced);
  };
  const auto [statements, rest] = parts_of(typed, frame);
  append_with_changes(text, sources.at(typed.file).text(), statements, changes);
  add(frame.before, {typed.file, rest.begin, rest.begin});
  append_with_changes(text, sources.at(typed.file).text(), rest, changes);
  add(frame.after, end);
  text.end_at(end);
  return parse(typed.file, sources, diagnostics, &text);
}

/// Statements as they are, or without their last `;`, or with an expression in the end. @return nothing, after
/// messages: none of them
std::optional<PieceCompiler::Frame> PieceCompiler::find_frame(Attempt& attempt) {
  const Frame statements, expression = frame_of_values(1), unended = unended_statements();
  Diagnostics furthest;  // of the form that explains most of the text
  const auto fits = [&](const Frame& frame, Diagnostics& diagnostics, std::unique_ptr<ast::Module>& module) {
    module = parse_alone(session_.sources, attempt.typed, frame, attempt.changes, diagnostics);
    if (!diagnostics.has_errors()) return true;
    if (lacks_only_semicolon(diagnostics, session_.sources.at(attempt.typed.file).text())) return false;
    if (!furthest.has_errors() || explained(furthest) < explained(diagnostics)) furthest = diagnostics;
    return false;
  };
  std::unique_ptr<ast::Module> module;
  if (Diagnostics found; fits(statements, found, module)) {
    attempt.own = definitions_of(*module, session_.sources);
    return statements;
  }
  if (Diagnostics ignored; fits(unended, ignored, module)) {
    attempt.own = definitions_of(*module, session_.sources);
    const ast::Expr* expr = last_expression(*module, attempt.own);
    if (expr == nullptr) return unended;
    const bool is_call = expr->kind == ast::ExprKind::Call;
    Frame last = is_call ? unended : expression;
    last.is_call = is_call;
    last.at = expr->span.begin - attempt.typed.begin;
    return last;
  }
  if (Diagnostics ignored; fits(expression, ignored, module)) return expression;
  const Frame last = frame_of_values(1, begin_of_last(text_at(session_.sources, attempt.typed)));
  if (Diagnostics ignored; last.at != 0 && fits(last, ignored, module)) {
    attempt.own = definitions_of(*module, session_.sources);
    return last;
  }
  session_.diagnostics = std::move(furthest);
  print_findings(attempt.file);
  return std::nullopt;
}

bool PieceCompiler::is_unfinished(const std::string& text) {
  // an error where the text ends: whoever types more may mend it
  SourceMap sources;
  const Span typed{sources.add("repl", text), 0, static_cast<std::uint32_t>(text.size())};
  const std::size_t end = without_blanks(text).size();
  bool breaks_off = false;
  for (const Frame& frame :
       {Frame{}, unended_statements(), frame_of_values(1), frame_of_values(1, begin_of_last(text))}) {
    Diagnostics found;
    parse_alone(sources, typed, frame, {}, found);
    if (!found.has_errors()) return false;
    if (lacks_only_semicolon(found, text)) continue;
    breaks_off = breaks_off || first_error(found).span.begin >= end || opens_lines(found, text);
  }
  return breaks_off;
}

// ---------------------------------------------------------------- compiling

std::map<std::string, std::shared_ptr<LiveVariable>> PieceCompiler::hidden_variables() const {
  std::map<std::string, std::shared_ptr<LiveVariable>> hidden;
  for (const auto& [name, variable] : variables_)
    for (const auto& read : variable->read)
      if (const auto known = variables_.find(read->name); known == variables_.end() || known->second != read)
        hidden.emplace(fmt::format("_{}_of_{}", read->name, read->declared.file), read);
  return hidden;
}

std::string PieceCompiler::declaration_of(const Attempt& attempt, const LiveVariable& variable) const {
  if (variable.declaration.empty()) return variable.type + " " + variable.name;
  std::string text;
  std::size_t end = 0;
  for (const Lexeme& lexeme : lexemes_of(variable.declaration)) {
    const std::string_view word =
        std::string_view(variable.declaration).substr(lexeme.begin, lexeme.end - lexeme.begin);
    const auto named = std::ranges::find_if(attempt.hidden, [&](const auto& each) {
      return each.second->name == word && std::ranges::find(variable.read, each.second) != variable.read.end();
    });
    if (named == attempt.hidden.end()) continue;
    text += variable.declaration.substr(end, lexeme.begin - end) + named->first;
    end = lexeme.end;
  }
  return text + variable.declaration.substr(end);
}

ExpandedText PieceCompiler::text_of(const Attempt& attempt) const {
  ExpandedText text;
  std::set<std::string, std::less<>> names;
  const Span start{attempt.file, attempt.typed.begin, attempt.typed.begin};
  const auto add = [&](std::string_view part, Span at) {
    if (!part.empty()) text.append(part, at, PartOrigin::replaced);
  };
  const auto copy = [&](Span span) {
    const std::string_view part = text_at(session_.sources, span);
    add_names(part, names);
    if (!part.empty()) text.append(part, span, PartOrigin::copied);
  };
  for (const Definition& each : attempt.earlier) {
    copy(each.span);
    const bool is_ended = each.kind == DefinitionKind::function || each.kind == DefinitionKind::type ||
                          ends_with_semicolon(text_at(session_.sources, each.span));
    add(is_ended ? "\n" : ";\n", start);  // the last `;` of an entry may be left out
  }
  // what was typed comes last, but the names in it are needed now
  add_names(text_at(session_.sources, attempt.typed), names);
  for (const auto& [name, variable] : variables_) add_names(variable->declaration, names);
  for (const std::uint32_t module : modules_run_)  // their functions may read their variables
    if (!session_.sources.at(module).is_of_library()) add_names(session_.sources.at(module).text(), names);
  std::vector<const LiveVariable*> needed;
  for (const auto& [name, variable] : variables_)
    if (names.contains(name) && !attempt.dropped.contains(name)) needed.push_back(variable.get());
  // a path, or an extent, may be computed from variables that were declared before
  std::ranges::sort(needed, {},
                    [](const LiveVariable* each) { return std::pair(each->declared.file, each->declared.begin); });
  for (const auto& [name, variable] : attempt.hidden)
    add(fmt::format("{} {};\n", variable->type, name), variable->declared);
  for (const LiveVariable* each : needed) add(declaration_of(attempt, *each) + ";\n", each->declared);
  const std::string& typed = session_.sources.at(attempt.file).text();
  const auto [statements, rest] = parts_of(attempt.typed, attempt.frame);
  append_with_changes(text, typed, statements, attempt.changes);
  add(attempt.frame.before, {attempt.file, rest.begin, rest.begin});
  append_with_changes(text, typed, rest, attempt.changes);
  add(attempt.frame.after, {attempt.file, attempt.typed.end, attempt.typed.end});
  text.end_at({attempt.file, attempt.typed.end, attempt.typed.end});
  return text;
}

bool PieceCompiler::compile_once(const Attempt& attempt, Compilation& result) {
  SessionPiece piece;
  for (const auto& [name, variable] : variables_)
    if (is_assigned(*variable)) piece.settled.insert(name);
  piece.modules_run = modules_run_;
  session_.diagnostics = {};
  const ExpandedText text = text_of(attempt);
  std::optional<Compilation> compiled = tool::compile(session_, attempt.file, {.text = &text, .piece = &piece});
  if (compiled) result = std::move(*compiled);
  return compiled.has_value();
}

/// Functions and constants of earlier pieces that have errors now, as what they use has another type.
/// @return true if there were some
bool PieceCompiler::forget_broken(Attempt& attempt, std::vector<std::string>& forgotten) const {
  bool found = false;
  for (const Diagnostic& each : session_.diagnostics.all()) {
    if (severity_of(each.kind) != Severity::error || each.span.file == attempt.file) continue;
    const auto broken = std::ranges::find_if(attempt.earlier, [&](const Definition& definition) {
      return definition.span.file == each.span.file && definition.span.begin <= each.span.begin &&
             each.span.begin < definition.span.end;
    });
    if (broken == attempt.earlier.end() || broken->kind == DefinitionKind::import) continue;
    forgotten.push_back(fmt::format("{}: {}", broken->name, each.message));
    attempt.earlier.erase(broken);
    found = true;
  }
  return found;
}

bool PieceCompiler::compile_with(Attempt& attempt, Compilation& result, std::vector<std::string>& forgotten) {
  while (!compile_once(attempt, result))
    if (!forget_broken(attempt, forgotten)) return false;
  return true;
}

/// A module that could not be compiled is read again when it is imported again: it may be mended.
void PieceCompiler::forget_unused_modules() {
  std::erase_if(session_.module_files, [this](const auto& module) {
    return !module.first.starts_with(library_folder) && !modules_run_.contains(module.second);
  });
}

/// Variables of types that are defined anew, or have such parts.
std::set<std::string, std::less<>> PieceCompiler::variables_of_replaced(const Attempt& attempt) const {
  std::set<std::string, std::less<>> types, variables;
  const auto has_one = [&types](std::string_view text) {
    std::set<std::string, std::less<>> names;
    add_names(text, names);
    return std::ranges::any_of(names, [&](const std::string& name) { return types.contains(name); });
  };
  for (const Definition& earlier : definitions_)  // a type is defined before those that it is a part of
    if (earlier.kind == DefinitionKind::type &&
        (std::ranges::any_of(attempt.own, [&](const Definition& own) { return replaces(own, earlier); }) ||
         has_one(text_at(session_.sources, earlier.span))))
      types.insert(earlier.name);
  for (const auto& [name, variable] : variables_)
    if (has_one(variable->type)) variables.insert(name);
  return variables;
}

std::optional<Piece> PieceCompiler::compile(const Typed& typed) {
  Attempt attempt = begin(typed);
  const std::optional<Frame> frame = find_frame(attempt);
  if (!frame) return std::nullopt;
  attempt.frame = *frame;
  for (const Definition& earlier : definitions_) {
    const bool is_replaced =
        std::ranges::any_of(attempt.own, [&](const Definition& own) { return replaces(own, earlier); });
    if (!is_replaced) attempt.earlier.push_back(earlier);
  }
  attempt.dropped = variables_of_replaced(attempt);
  Piece piece;
  piece.file = attempt.file;
  piece.compilation = std::make_unique<Compilation>();
  bool compiled = compile_with(attempt, *piece.compilation, piece.forgotten);
  if (compiled && attempt.frame.is_call) {
    const CheckedProgram& checked = *piece.compilation->checked;
    const ast::Stmt& call = *checked.modules.back()->statements.statements.back();
    const std::size_t count = output_count(*ast::as<const ast::Evaluate>(call).expr, checked.types);
    if (count > 0) {
      attempt.frame = frame_of_values(count, attempt.frame.at);
      compiled = compile_with(attempt, *piece.compilation, piece.forgotten);
    }
  }
  if (print_findings(attempt.file) || !compiled) {
    forget_unused_modules();
    return std::nullopt;
  }
  for (const std::string& name : attempt.dropped) {
    piece.forgotten.push_back(fmt::format("{}: its type `{}` is another one now", name, variables_.at(name)->type));
    variables_.erase(name);
  }
  definitions_ = attempt.earlier;
  definitions_.insert(definitions_.end(), attempt.own.begin(), attempt.own.end());
  bind(attempt, piece);
  const auto [statements, rest] = parts_of(attempt.typed, attempt.frame);
  piece.statements = text_at(session_.sources, piece.values.empty() ? attempt.typed : statements);
  return piece;
}

std::optional<std::string> PieceCompiler::type_of(const Typed& expression) {
  Attempt attempt = begin(expression);
  attempt.frame = frame_of_values(1);
  attempt.earlier = definitions_;
  Compilation result;
  std::vector<std::string> forgotten;
  const bool compiled = compile_with(attempt, result, forgotten);
  if (print_findings(attempt.file) || !compiled) return std::nullopt;
  const CheckedProgram& checked = *result.checked;
  for (const ScriptResult& each : checked.results)
    if (checked.variables[each.variable].name == value_name)
      return checked.types.name(checked.variables[each.variable].type);
  return std::nullopt;
}

}  // namespace raddle::tool::repl
