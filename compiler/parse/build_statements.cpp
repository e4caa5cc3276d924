#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/parse/build_ast.hpp"
#include "compiler/parse/literals.hpp"
#include "compiler/parse/parse.hpp"

namespace raddle {

using ast::Annotations, ast::Block, ast::BlockPtr, ast::ExprKind, ast::ExprPtr, ast::StmtKind, ast::StmtPtr;

namespace {

/// Puts `more` before the annotations in `to`.
void prepend(Annotations& to, Annotations more) {
  std::move(to.begin(), to.end(), std::back_inserter(more));
  to = std::move(more);
}

constexpr std::array call_annotations = {"prio",    "location", "soft_location", "par", "retry",
                                         "timeout", "cores",    "memory",        "ok",  "default"};

/// `@prio=3 int y = f(x);`: annotations of calls that stand before a statement belong to its call.
void move_to_call(Annotations& annotations, ast::Expr* value) {
  if (value == nullptr || value->kind != ExprKind::Call) return;
  Annotations of_call, others;
  for (ast::Annotation& one : annotations)
    (std::ranges::find(call_annotations, one.name.text) != call_annotations.end() ? of_call : others)
        .push_back(std::move(one));
  annotations = std::move(others);
  prepend(ast::as<ast::Call>(*value).annotations, std::move(of_call));
}

}  // namespace

StmtPtr AstBuilder::statement(P::StatementContext* from, Annotations annotations) {
  if (from->exception) return nullptr;
  Annotations own = this->annotations(from->marks);
  std::move(own.begin(), own.end(), std::back_inserter(annotations));
  if (from->chain != nullptr) return chain(from->chain, std::move(annotations));
  if (from->compound != nullptr) return compound(from->compound, std::move(annotations));
  refuse(annotations);
  return make<ast::Empty>(span(from->empty));
}

/// One level of the tree: a block, what follows an `else`, or, up to a number of them, an `=>`. All stages walk them by
/// recursion.
bool AstBuilder::enter_level(const antlr4::Token* at) {
  if (level_ > max_nesting) {
    diagnostics_.report(DiagnosticKind::nested_too_deeply, span(at))
        .note("each block, `=>` and `else` is a level: move a part into a function");
    return false;
  }
  ++level_;
  return true;
}

BlockPtr AstBuilder::block(P::StatementsContext* from) {
  auto node = make<Block>(span(from));
  const std::size_t outside = level_;
  if (!enter_level(from->start)) return node;
  node->statements.reserve(from->items.size());
  for (P::StatementContext* item : from->items)
    if (StmtPtr one = statement(item, {})) node->statements.push_back(std::move(one));
  level_ = outside;
  return node;
}

BlockPtr AstBuilder::block(P::BlockContext* from) {
  BlockPtr node = block(from->content);
  node->span = span(from);
  return node;
}

/// The body of `keyword`, which needs braces.
BlockPtr AstBuilder::controlled(P::ControlledContext* from, const char* keyword) {
  if (from->braced != nullptr) return block(from->braced);
  diagnostics_.report(DiagnosticKind::missing_braces, span(from->start), keyword);
  auto node = make<Block>(span(from));
  node->statements.push_back(simple(from->bare, {}));
  return node;
}

StmtPtr AstBuilder::chain(P::Chain_statementContext* from, Annotations annotations) {
  StmtPtr first = simple(from->first, std::move(annotations));
  if (from->links.empty() && from->last == nullptr) return first;
  auto node = make<ast::Chain>(span(from));
  node->links.push_back(std::move(first));
  const std::size_t outside = level_;
  for (P::Chain_linkContext* link : from->links) {
    if (node->links.size() < ast::nested_links && !enter_level(link->start)) break;
    node->links.push_back(simple(link->body, this->annotations(link->marks)));
  }
  if (from->last != nullptr) node->links.push_back(compound(from->last->body, this->annotations(from->last->marks)));
  level_ = outside;
  return node;
}

// ---------------------------------------------------------------- simple statements

StmtPtr AstBuilder::simple(P::Simple_statementContext* from, Annotations annotations) {
  if (from->open != nullptr) return parenthesised_statement(from, std::move(annotations));
  if (from->declared != nullptr) return declaration(from, std::move(annotations));
  if (from->assign != nullptr) return assignment(from, std::move(annotations));
  if (from->appended == nullptr && from->updated == nullptr) return evaluate(from, std::move(annotations));
  refuse(annotations);
  return from->appended != nullptr ? append(from) : update(from);
}

ast::TypeExpr AstBuilder::declared_type(P::Simple_statementContext* from) {
  ast::TypeExpr type;
  type.name = identifier(from->target->name);
  type.span = join(span(from->target), span(from->declared->start));
  type.span.end = span(from->declared->start).begin;
  if (from->target->call != nullptr) error(span(from->target), "expected a type before the name of the variable");
  if (from->argument != nullptr) type.arguments.push_back(this->type(from->argument));
  for (P::SuffixContext* suffix : from->target->suffixes) {
    ast::Dimension dimension;
    dimension.span = span(suffix);
    if (suffix->field_name != nullptr) error(span(suffix), "expected a type, found a field");
    for (P::Index_entryContext* entry : suffix->entries) dimension.entries.push_back(index_entry(entry));
    type.dimensions.push_back(std::move(dimension));
  }
  for (ast::Dimension& dimension : dimensions(from->dimensions)) type.dimensions.push_back(std::move(dimension));
  type.span.end = span(from->target).end;
  if (from->argument != nullptr) type.span.end = span(from->argument).end + 1;
  return type;
}

ast::Declarator AstBuilder::declarator(P::DeclaratorContext* from) {
  ast::Declarator out;
  out.name = identifier(from->name);
  out.dimensions = dimensions(from->dimensions);
  if (from->mapping != nullptr) out.mapping = expression(from->mapping);
  if (from->value != nullptr) out.value = expression(from->value);
  out.span = span(from);
  return out;
}

StmtPtr AstBuilder::declaration(P::Simple_statementContext* from, Annotations annotations) {
  auto node = make<ast::Declaration>(span(from));
  if (!annotations.empty()) node->comment = comment_above(annotations.front().span);
  node->annotations = std::move(annotations);
  node->type = declared_type(from);
  for (P::DeclaratorContext* item : from->declared->items) node->declarators.push_back(declarator(item));
  if (node->declarators.size() == 1) move_to_call(node->annotations, node->declarators[0].value.get());
  return node;
}

namespace {

std::string_view trimmed(std::string_view text, std::string_view before, std::string_view behind) {
  text.remove_prefix(std::min(text.find_first_not_of(before), text.size()));
  return text.substr(0, text.find_last_not_of(behind) + 1);
}

}  // namespace

/// The comments right above the line that begins with `span`, without their marks.
std::string AstBuilder::comment_above(Span span) const {
  std::string comment;
  const SourceBuffer& source = tokens_.sources().at(span.file);
  const std::string_view own = source.line(source.position(span.begin).line);
  const auto before = static_cast<std::size_t>(source.text().data() + span.begin - own.data());
  if (own.substr(0, before).find_first_not_of(" \t") != std::string_view::npos) return comment;
  constexpr std::string_view blanks = " \t\r";
  bool in_block = false;
  for (std::uint32_t line = source.position(span.begin).line - 1; line > 0; --line) {
    std::string_view text = trimmed(source.line(line), blanks, blanks);
    const bool ends_block = !in_block && text.ends_with("*/");
    if (ends_block) {
      const std::size_t begin = text.rfind("/*");
      if (begin != 0 && begin != std::string_view::npos) break;  // behind a statement
      in_block = true;
    }
    if (!in_block && !text.starts_with("//") && !text.starts_with('#')) break;
    in_block = in_block && !text.starts_with("/*");
    text = trimmed(text, "/*# \t", ends_block ? "/* \t\r" : blanks);
    if (!text.empty()) comment = comment.empty() ? std::string(text) : fmt::format("{}\n{}", text, comment);
  }
  return comment;
}

ExprPtr AstBuilder::target(P::ReferenceContext* from) {
  if (from->call != nullptr)
    error(span(from), "a call can not be assigned to")
        .note("a function is written `(float y) f(float x) { y = x * x; }`, an element `a[i] = x;`");
  return reference(from);
}

ExprPtr AstBuilder::target(P::Call_argumentContext* from) {
  ExprPtr node = expression(from->first);
  const bool assignable =
      node->kind == ExprKind::Name || node->kind == ExprKind::Index || node->kind == ExprKind::Field;
  if (!assignable || from->second != nullptr) error(span(from), "expected a variable to assign to");
  return node;
}

StmtPtr AstBuilder::assignment(P::Simple_statementContext* from, Annotations annotations) {
  auto node = make<ast::Assign>(span(from));
  node->annotations = std::move(annotations);
  if (from->target != nullptr) node->targets.push_back(target(from->target));
  for (P::ReferenceContext* item : from->targets) node->targets.push_back(target(item));
  for (P::Call_argumentContext* item : from->elements) node->targets.push_back(target(item));
  node->values = expressions(from->values);
  if (node->values.size() == 1) move_to_call(node->annotations, node->values[0].get());
  if (node->targets.empty()) error(span(from->open), "expected a variable to assign to");
  return node;
}

StmtPtr AstBuilder::append(P::Simple_statementContext* from) {
  auto node = make<ast::Append>(span(from));
  if (!from->targets.empty()) error(span(from->targets[0]), "expected one variable before `+=`");
  node->target = target(from->target);
  node->value = expression(from->appended);
  return node;
}

StmtPtr AstBuilder::update(P::Simple_statementContext* from) {
  auto node = make<ast::Update>(span(from));
  if (from->target->call != nullptr || !from->target->suffixes.empty())
    error(span(from->target), "expected the name of a variable before `<...> :=`");
  node->target = identifier(from->target->name);
  const P::Plain_typeContext* mode = from->argument->first;
  if (mode->argument != nullptr || !mode->dimensions.empty() || !from->argument->others.empty())
    error(span(from->argument), "expected `incr`, `min` or `scale`");
  node->mode = identifier(mode->name);
  node->value = expression(from->updated);
  return node;
}

StmtPtr AstBuilder::evaluate(P::Simple_statementContext* from, Annotations annotations) {
  auto node = make<ast::Evaluate>(span(from));
  node->expr = reference(from->target);
  if (node->expr->kind == ExprKind::Call)
    prepend(ast::as<ast::Call>(*node->expr).annotations, std::move(annotations));
  else
    refuse(annotations);
  return node;
}

/// `(a, b) = f();`, or `@f(x);`: the old spelling of `f(x);`, where the callee was parsed as an annotation.
StmtPtr AstBuilder::parenthesised_statement(P::Simple_statementContext* from, Annotations annotations) {
  if (from->assign != nullptr) return assignment(from, std::move(annotations));
  auto node = make<ast::Evaluate>(span(from));
  auto call = make<ast::Call>(span(from));
  if (annotations.empty() || annotations.back().value) {
    error(span(from), "expected `=` and a value after the variables");
  } else {
    diagnostics_.report(DiagnosticKind::old_call_prefix, annotations.back().span, annotations.back().name.text);
    call->callee = std::move(annotations.back().name);
    annotations.pop_back();
  }
  for (P::Call_argumentContext* item : from->elements) call->arguments.push_back(argument(item));
  call->annotations = std::move(annotations);
  node->expr = std::move(call);
  return node;
}

// ---------------------------------------------------------------- compound statements

StmtPtr AstBuilder::compound(P::Compound_statementContext* from, Annotations annotations) {
  if (from->each != nullptr) return foreach_statement(from->each, std::move(annotations));
  if (from->loop != nullptr) return for_statement(from->loop, std::move(annotations));
  if (from->repeat != nullptr) return iterate_statement(from->repeat, std::move(annotations));
  refuse(annotations);
  if (from->nested != nullptr) return block(from->nested);
  if (from->branch != nullptr) return if_statement(from->branch);
  if (from->choice != nullptr) return switch_statement(from->choice);
  if (from->attempt != nullptr) return try_statement(from->attempt);
  return wait_statement(from->waiting);
}

StmtPtr AstBuilder::if_statement(P::If_statementContext* from) {
  auto first = make<ast::If>(span(from));
  first->condition = expression(from->condition);
  first->then_block = controlled(from->then_body, "if");
  ast::If* last = first.get();
  const std::size_t outside = level_;
  for (std::size_t i = 0; i < from->parts.size(); ++i) {
    if (!enter_level(from->elses[i])) break;
    P::Else_partContext* part = from->parts[i];
    if (last->else_block != nullptr) {
      diagnostics_.report(DiagnosticKind::else_without_if, span(from->elses[i]));
      break;
    }
    if (part->otherwise != nullptr) {
      last->else_block = controlled(part->otherwise, "else");
      continue;
    }
    auto next = make<ast::If>(join(span(part), span(from)));
    next->condition = expression(part->condition);
    next->then_block = controlled(part->then_body, "if");
    ast::If* const inner = next.get();
    last->else_block = std::move(next);
    last = inner;
  }
  level_ = outside;
  return first;
}

StmtPtr AstBuilder::switch_statement(P::Switch_statementContext* from) {
  auto node = make<ast::Switch>(span(from));
  node->value = expression(from->value);
  for (P::Case_clauseContext* clause : from->cases) {
    ast::Switch::Case out;
    out.span = span(clause->otherwise != nullptr ? clause->otherwise : clause->label);
    if (clause->otherwise == nullptr)
      out.label = integer_value(tokens_.text(*clause->label), false, out.span, diagnostics_);
    if (clause->negative != nullptr) error(join(span(clause->negative), out.span), "a label can not be negative");
    for (const ast::Switch::Case& before : node->cases) {
      if (!before.label && !out.label)
        error(out.span, "`default` is there already");
      else if (before.label == out.label)
        error(out.span, fmt::format("`case {}` is there already", *out.label));
    }
    out.block = block(clause->content);
    node->cases.push_back(std::move(out));
  }
  std::ranges::stable_partition(node->cases, [](const ast::Switch::Case& one) { return one.label.has_value(); });
  return node;
}

StmtPtr AstBuilder::foreach_statement(P::Foreach_statementContext* from, Annotations annotations) {
  auto node = make<ast::Foreach>(span(from));
  node->annotations = std::move(annotations);
  node->value = identifier(from->value);
  if (from->key != nullptr) node->key = identifier(from->key);
  node->iterable = expression(from->iterable);
  ast::Foreach* innermost = node.get();
  for (P::Foreach_innerContext* inner : from->inner) {
    auto loop = make<ast::Foreach>(join(span(inner), span(from->content)));
    loop->value = identifier(inner->value);
    loop->iterable = expression(inner->iterable);
    innermost->body = make<ast::Block>(loop->span);
    innermost->body->statements.push_back(std::move(loop));
    innermost = static_cast<ast::Foreach*>(innermost->body->statements.back().get());
  }
  innermost->body = block(from->content);
  return node;
}

StmtPtr AstBuilder::for_statement(P::For_statementContext* from, Annotations annotations) {
  auto node = make<ast::For>(span(from));
  node->annotations = std::move(annotations);
  for (P::For_variableContext* item : from->variables) {
    ast::For::Variable variable;
    if (item->name != nullptr) {
      variable.type = type(item->type);
      for (ast::Dimension& one : dimensions(item->dimensions)) variable.type->dimensions.push_back(std::move(one));
      variable.name = identifier(item->name);
    } else {
      const P::Plain_typeContext* plain = item->type->first;
      if (plain->argument != nullptr || !plain->dimensions.empty() || !item->type->others.empty())
        error(span(item->type), "expected the name of a variable");
      variable.name = identifier(plain->name);
    }
    variable.initial = expression(item->value);
    node->variables.push_back(std::move(variable));
  }
  node->condition = expression(from->condition);
  for (P::For_updateContext* item : from->updates)
    node->updates.push_back({identifier(item->name), expression(item->value)});
  node->body = controlled(from->content, "for");
  return node;
}

StmtPtr AstBuilder::iterate_statement(P::Iterate_statementContext* from, Annotations annotations) {
  auto node = make<ast::Iterate>(span(from));
  node->annotations = std::move(annotations);
  node->counter = identifier(from->counter);
  node->body = block(from->content);
  node->until = expression(from->condition);
  return node;
}

StmtPtr AstBuilder::wait_statement(P::Wait_statementContext* from) {
  auto node = make<ast::Wait>(span(from));
  node->deep = from->deep != nullptr;
  node->awaited = expressions(from->awaited);
  node->body = controlled(from->content, "wait");
  return node;
}

StmtPtr AstBuilder::try_statement(P::Try_statementContext* from) {
  auto node = make<ast::Try>(span(from));
  node->body = block(from->content);
  if (from->otherwise != nullptr) {
    node->otherwise = controlled(from->otherwise, "else");
  } else {
    diagnostics_.report(DiagnosticKind::bad_try, span(from->start), "`try` needs an `else`")
        .note("`try { ... } else { ... }`: the second block is done if something in the first one fails");
    node->otherwise = make<Block>(span(from));
  }
  return node;
}

}  // namespace raddle
