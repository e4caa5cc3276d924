#include <fmt/format.h>

#include <algorithm>

#include "compiler/parse/build_ast.hpp"
#include "compiler/parse/literals.hpp"

namespace raddle {

using ast::Annotations, ast::BodyKind, ast::ExprKind, ast::ExprPtr, ast::FunctionDefinition, ast::TypeDefinition;
using ast::TypeDefinitionKind;

ast::Import AstBuilder::import_item(P::Import_itemContext* from) {
  ast::Import out{.module = {}, .span = span(from)};
  if (from->path != nullptr) out.module = text_value(from->path->token);
  for (const antlr4::Token* part : from->parts) {
    if (!out.module.empty()) out.module += '/';
    out.module += tokens_.text(*part);
  }
  return out;
}

ast::Pragma AstBuilder::pragma_item(P::Pragma_itemContext* from) {
  ast::Pragma out{.name = identifier(from->name), .arguments = {}, .span = span(from)};
  for (P::Word_valueContext* argument : from->arguments_) out.arguments.push_back(word(argument));
  return out;
}

std::unique_ptr<ast::GlobalConst> AstBuilder::global_constant(P::Global_constantContext* from) {
  auto out = std::make_unique<ast::GlobalConst>();
  out->type = type(from->type);
  out->name = identifier(from->name);
  out->value = expression(from->value);
  out->span = span(from);
  return out;
}

Annotations AstBuilder::annotations(const std::vector<P::AnnotationContext*>& from) {
  Annotations out;
  for (P::AnnotationContext* one : from)
    out.push_back({identifier(one->name), one->value == nullptr ? nullptr : expression(one->value), span(one)});
  return out;
}

void AstBuilder::refuse(const Annotations& annotations) {
  for (const ast::Annotation& one : annotations) error(one.span, "an annotation has no meaning here");
}

// ---------------------------------------------------------------- types

std::vector<ast::Dimension> AstBuilder::dimensions(const std::vector<P::DimensionContext*>& from) {
  std::vector<ast::Dimension> out;
  out.reserve(from.size());
  for (P::DimensionContext* one : from) {
    ast::Dimension& made = out.emplace_back(std::vector<ExprPtr>{}, span(one));
    for (P::Index_entryContext* entry : one->entries) made.entries.push_back(index_entry(entry));
  }
  return out;
}

ast::TypeExpr AstBuilder::plain_type(P::Plain_typeContext* from) {
  ast::TypeExpr out;
  out.name = identifier(from->name);
  if (from->argument != nullptr) out.arguments.push_back(type(from->argument));
  out.dimensions = dimensions(from->dimensions);
  out.span = span(from);
  return out;
}

ast::TypeExpr AstBuilder::type(P::Type_expressionContext* from) {
  ast::TypeExpr out = plain_type(from->first);
  for (P::Plain_typeContext* other : from->others) out.alternatives.push_back(plain_type(other));
  out.span = span(from);
  return out;
}

TypeDefinition AstBuilder::type_alias(P::Type_aliasContext* from) {
  TypeDefinition out;
  out.kind = TypeDefinitionKind::alias;
  out.name = identifier(from->name);
  out.base = type(from->base);
  out.span = span(from);
  return out;
}

TypeDefinition AstBuilder::type_definition(P::Type_definitionContext* from) {
  TypeDefinition out;
  out.name = identifier(from->name);
  out.span = span(from);
  if (from->base != nullptr) {
    out.kind = TypeDefinitionKind::distinct;
    out.base = type(from->base);
  } else if (from->structure == nullptr) {
    out.kind = TypeDefinitionKind::file_subtype;
  }
  for (P::Field_lineContext* line : from->lines) {
    for (P::FieldContext* field : line->fields) {
      ast::Formal& to = out.fields.emplace_back();
      to.type = type(line->type);
      to.name = identifier(field->name);
      to.dimensions = dimensions(field->dimensions);
      to.span = span(field);
    }
  }
  return out;
}

// ---------------------------------------------------------------- functions

ast::Formal AstBuilder::formal(P::FormalContext* from) {
  ast::Formal out;
  out.type = type(from->type);
  out.name = identifier(from->name);
  out.dimensions = dimensions(from->dimensions);
  out.varargs = from->varargs != nullptr;
  if (from->value != nullptr) out.default_value = expression(from->value);
  out.span = span(from);
  return out;
}

std::vector<ast::Formal> AstBuilder::formals(P::FormalsContext* from) {
  std::vector<ast::Formal> out;
  if (from == nullptr) return out;
  for (P::FormalContext* item : from->items) out.push_back(formal(item));
  return out;
}

void AstBuilder::tcl_body(P::Tcl_bodyContext* from, FunctionDefinition& to) {
  to.body_kind = BodyKind::tcl;
  to.tcl_package = {text_value(from->package_name->token), text_value(from->version->token)};
  if (from->procedure != nullptr) to.tcl_package.push_back(text_value(from->procedure->token));
  if (from->code != nullptr) to.tcl_template = text_value(from->code->token);
}

std::unique_ptr<FunctionDefinition> AstBuilder::function_definition(P::Function_definitionContext* from,
                                                                    Annotations annotations) {
  auto out = std::make_unique<FunctionDefinition>();
  for (const antlr4::Token* parameter : from->parameters) out->type_parameters.push_back(identifier(parameter));
  out->outputs = formals(from->outputs);
  out->name = identifier(from->name);
  out->inputs = formals(from->inputs);
  out->is_main = out->name.text == "main";
  out->span = span(from);
  const bool is_foreign = std::ranges::any_of(annotations, [](const auto& one) {
    return one.name.text == "library" || one.name.text == "kernel" || one.name.text == "python" || one.name.text == "r";
  });
  out->annotations = std::move(annotations);
  if (from->tcl != nullptr) {
    tcl_body(from->tcl, *out);
  } else if (from->body != nullptr) {
    out->block = block(from->body);
  } else {
    out->body_kind = BodyKind::library;
    if (!is_foreign) {
      std::string text =
          fmt::format("`{}` has neither a body nor a `@library`, `@kernel`, `@python` or `@r`", out->name.text);
      const auto with_value =
          std::ranges::find_if(out->annotations, [](const auto& one) { return one.value != nullptr; });
      if (with_value != out->annotations.end()) text += fmt::format(", which `@{}` is not", with_value->name.text);
      error(out->name.span, std::move(text));
    }
  }
  return out;
}

std::unique_ptr<FunctionDefinition> AstBuilder::app_definition(P::App_definitionContext* from,
                                                               Annotations annotations) {
  auto out = std::make_unique<FunctionDefinition>();
  out->annotations = std::move(annotations);
  out->outputs = formals(from->outputs);
  out->name = identifier(from->name);
  out->inputs = formals(from->inputs);
  out->body_kind = BodyKind::command;
  out->command = command_line(from->words, out->name.span);
  out->span = span(from);
  return out;
}

// ---------------------------------------------------------------- command lines

ast::CommandLine AstBuilder::command_line(const std::vector<P::WordContext*>& from, Span at) {
  ast::CommandLine out;
  const SourceToken* before = nullptr;  // last token of the word before
  for (P::WordContext* item : from) {
    const bool adjacent = before != nullptr && before->end == static_cast<const SourceToken*>(item->start)->begin;
    before = static_cast<const SourceToken*>(item->stop);
    if (item->stream != nullptr) {
      constexpr ast::Redirect streams[] = {ast::Redirect::stderr_, ast::Redirect::stdin_, ast::Redirect::stdout_};
      const ast::Redirect stream = streams[item->stream->getType() - P::STDERR];
      for (const auto& redirection : out.redirections)
        if (redirection.stream == stream) error(span(item), "this stream is redirected already");
      out.redirections.push_back({stream, word(item->target), span(item)});
    } else if (item->file != nullptr) {
      auto node = make<ast::FileName>(span(item));
      auto name = make<ast::Name>(span(item->file));
      name->text = tokens_.text(*item->file);
      node->file = std::move(name);
      out.words.push_back(std::move(node));
    } else if (!adjacent || out.words.empty() || !join_index(out.words.back(), item)) {
      out.words.push_back(word(item->value));
    }
  }
  if (out.words.empty()) error(at, "an app needs a command line");
  return out;
}

bool AstBuilder::join_index(ExprPtr& base, P::WordContext* next) {
  const bool can_have_index =
      base->kind == ExprKind::Name || base->kind == ExprKind::Field || base->kind == ExprKind::Index;
  if (!can_have_index || next->value->array == nullptr || next->value->array->items.empty()) return false;
  auto index = make<ast::Index>(join(base->span, span(next)));
  ExprPtr brackets = array(next->value->array);
  if (brackets->kind == ExprKind::Range) {
    auto& range = ast::as<ast::Range>(*brackets);
    auto slice = make<ast::Slice>(range.span);
    slice->low = std::move(range.low);
    slice->high = std::move(range.high);
    slice->step = std::move(range.step);
    index->indices.push_back(std::move(slice));
  } else {
    index->indices = std::move(ast::as<ast::ArrayLiteral>(*brackets).elements);
  }
  index->base = std::move(base);
  base = std::move(index);
  return true;
}

ExprPtr AstBuilder::word(P::Word_valueContext* from) {
  if (from->literal != nullptr) return literal(from->literal, false);
  if (from->group != nullptr) return group(from->group);
  if (from->array != nullptr) return array(from->array);
  if (from->map != nullptr) return map(from->map);
  auto name = make<ast::Name>(span(from->name));
  name->text = tokens_.text(*from->name);
  ExprPtr out = std::move(name);
  for (const antlr4::Token* part : from->fields) {
    auto field = make<ast::Field>(join(out->span, span(part)));
    field->base = std::move(out);
    field->name = identifier(part);
    out = std::move(field);
  }
  return out;
}

}  // namespace raddle
