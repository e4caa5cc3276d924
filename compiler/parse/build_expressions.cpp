#include <fmt/format.h>

#include "compiler/ast/precedence.hpp"
#include "compiler/parse/build_ast.hpp"
#include "compiler/parse/literals.hpp"
#include "compiler/parse/parse.hpp"

namespace raddle {

using ast::Annotations, ast::ArrayLiteral, ast::Binary, ast::BoolLiteral, ast::Call, ast::ExprKind, ast::ExprPtr;
using ast::Field, ast::FloatLiteral, ast::Identifier, ast::Index, ast::IntLiteral, ast::MapLiteral, ast::Name;
using ast::Range, ast::Slice, ast::StringLiteral, ast::Tuple, ast::Unary, ast::UnaryOp;

namespace {

/// Stands for an expression that could not be built; the error is reported.
ExprPtr placeholder(Span at) {
  auto node = std::make_unique<Name>();
  node->span = at;
  return node;
}

/// Of the tree: operators may stand in each of the brackets, and the expression around them is a level of its own.
constexpr std::size_t max_depth = 2 * max_nesting + 2;

}  // namespace

// ---------------------------------------------------------------- operators

/// Operators and operands in a row become a tree by the precedence table: two stacks, no recursion.
template <typename Context>
ExprPtr AstBuilder::flat_expression(Context* from) {
  const std::size_t count = from->operators.size();
  const std::size_t outside = depth_;
  depth_ += count + 1;  // the operands lie at most so deep
  if (count > max_nesting || depth_ > max_depth) {
    diagnostics_.report(DiagnosticKind::nested_too_deeply, span(count == 0 ? from->start : from->operators[0]));
    depth_ = outside;
    return placeholder(span(from));
  }
  if (count == 0) {
    ExprPtr only = operand(from->operands[0]);
    depth_ = outside;
    return only;
  }
  struct Pending {
    const ast::BinaryOperator* op;
    const antlr4::Token* token;
  };
  std::vector<ExprPtr> operands;
  std::vector<Pending> pending;
  const auto reduce = [&] {
    ExprPtr right = std::move(operands.back());
    operands.pop_back();
    auto node = make<Binary>(join(operands.back()->span, right->span));
    node->op = pending.back().op->op;
    node->op_span = span(pending.back().token);
    node->left = std::move(operands.back());
    node->right = std::move(right);
    operands.back() = std::move(node);
    pending.pop_back();
  };
  operands.push_back(operand(from->operands[0]));
  for (std::size_t i = 0; i < count; ++i) {
    warn_of_power(from, i);
    const ast::BinaryOperator& next = *ast::find_binary_operator(tokens_.text(*from->operators[i]));
    while (!pending.empty() && pending.back().op->level >= next.level) reduce();
    pending.push_back({&next, from->operators[i]});
    operands.push_back(operand(from->operands[i + 1]));
  }
  while (!pending.empty()) reduce();
  depth_ = outside;
  return std::move(operands.front());
}

/// In most languages `-a**b` is `-(a**b)` and `a**b**c` is `a**(b**c)`.
template <typename Context>
void AstBuilder::warn_of_power(Context* from, std::size_t at) {
  const auto is_power = [&](std::size_t i) { return from->operators[i]->getType() == RaddleLexer::POWER; };
  if (!is_power(at)) return;
  const auto warn = [&](std::size_t first, const char* message, const char* help) {
    const Span range = join(span(from->operands[first]), span(from->operands[at + 1]));
    diagnostics_.report(DiagnosticKind::power_without_parentheses, range, message).note(help);
  };
  if (at > 0 && is_power(at - 1)) {
    if (at > 1 && is_power(at - 2)) return;  // told
    warn(at - 1, "`a**b**c` means `(a**b)**c`", "parentheses tell that it is meant, or `a**(b**c)`");
  }
  const std::vector<antlr4::Token*>& prefixes = from->operands[at]->prefixes;
  if (!prefixes.empty() && prefixes.back()->getType() == RaddleLexer::MINUS && (at == 0 || !is_power(at - 1)))
    warn(at, "`-a**b` means `(-a)**b`", "parentheses tell that it is meant, or `-(a**b)`");
}

ExprPtr AstBuilder::expression(P::ExpressionContext* from) { return flat_expression(from); }
ExprPtr AstBuilder::expression(P::Mapping_expressionContext* from) { return flat_expression(from); }
ExprPtr AstBuilder::expression(P::Annotation_valueContext* from) { return flat_expression(from); }

std::vector<ExprPtr> AstBuilder::expressions(const std::vector<P::ExpressionContext*>& from) {
  std::vector<ExprPtr> out;
  out.reserve(from.size());
  for (P::ExpressionContext* one : from) out.push_back(expression(one));
  return out;
}

/// A `-` right before an integer literal belongs to it: -9223372036854775808 is an int.
static bool negates_literal(const std::vector<antlr4::Token*>& prefixes, const antlr4::Token* literal,
                            bool has_suffixes) {
  return !prefixes.empty() && !has_suffixes && literal != nullptr && literal->getType() == RaddleLexer::INT &&
         prefixes.back()->getType() == RaddleLexer::MINUS;
}

ExprPtr AstBuilder::operand(P::OperandContext* from) {
  const bool negated = negates_literal(from->prefixes, from->base->literal, !from->suffixes.empty());
  ExprPtr value = primary(from->base, negated);
  if (!from->suffixes.empty()) value = with_suffixes(std::move(value), from->suffixes);
  if (!from->prefixes.empty()) value = with_prefixes(std::move(value), from->prefixes, negated);
  return value;
}

ExprPtr AstBuilder::operand(P::Annotation_operandContext* from) {
  const bool negated = negates_literal(from->prefixes, from->literal, !from->suffixes.empty());
  ExprPtr value;
  if (from->literal != nullptr) {
    value = literal(from->literal, negated);
  } else if (from->constant != nullptr) {
    auto name = make<Name>(span(from->constant));
    name->text = tokens_.text(*from->constant);
    value = std::move(name);
  } else if (from->call != nullptr) {
    value = call(from->name, from->call);
  } else if (from->array != nullptr) {
    value = array(from->array);
  } else {
    value = group(from->group);
  }
  return with_prefixes(with_suffixes(std::move(value), from->suffixes), from->prefixes, negated);
}

/// @param negated  the last prefix is part of the literal already
ExprPtr AstBuilder::with_prefixes(ExprPtr operand, const std::vector<antlr4::Token*>& from, bool negated) {
  if (depth_ + from.size() > max_depth || from.size() > max_nesting) {
    diagnostics_.report(DiagnosticKind::nested_too_deeply, span(from[0]));
    return operand;
  }
  std::size_t left = from.size();
  if (negated) operand->span.begin = span(from[--left]).begin;
  while (left-- > 0) {
    auto node = make<Unary>(join(span(from[left]), operand->span));
    node->op = from[left]->getType() == RaddleLexer::MINUS ? UnaryOp::negate : UnaryOp::not_;
    node->op_span = span(from[left]);
    node->operand = std::move(operand);
    operand = std::move(node);
  }
  return operand;
}

// ---------------------------------------------------------------- names, calls, indices

ExprPtr AstBuilder::primary(P::PrimaryContext* from, bool negated) {
  if (from->literal != nullptr) return literal(from->literal, negated);
  if (!from->marks.empty()) return annotated_call(from);
  if (from->call != nullptr) return call(from->name, from->call);
  if (from->group != nullptr) return group(from->group);
  if (from->array != nullptr) return array(from->array);
  if (from->map != nullptr) return map(from->map);
  auto node = make<Name>(span(from->name));
  node->text = tokens_.text(*from->name);
  return node;
}

/// `@prio=3 f(x)`, or `@f(x)`: the old spelling of `f(x)`, where the callee was parsed as an annotation.
ExprPtr AstBuilder::annotated_call(P::PrimaryContext* from) {
  Annotations marks = annotations(from->marks);
  const antlr4::Token* callee = from->callee;
  if (callee == nullptr) {
    const ast::Annotation& last = marks.back();
    if (last.value) {
      error(span(from->call), "expected a function name before `(`");
      return placeholder(span(from));
    }
    diagnostics_.report(DiagnosticKind::old_call_prefix, last.span, last.name.text);
    callee = from->marks.back()->name;
    marks.pop_back();
  }
  auto node = call(callee, from->call);
  node->annotations = std::move(marks);
  return node;
}

std::unique_ptr<Call> AstBuilder::call(const antlr4::Token* callee, P::ArgumentsContext* arguments) {
  auto node = make<Call>(join(span(callee), span(arguments)));
  node->callee = identifier(callee);
  node->arguments.reserve(arguments->items.size());
  for (P::Call_argumentContext* item : arguments->items) node->arguments.push_back(argument(item));
  return node;
}

Call::Argument AstBuilder::argument(P::Call_argumentContext* from) {
  if (from->second == nullptr) return {std::nullopt, expression(from->first)};
  ExprPtr keyword = expression(from->first);
  ExprPtr value = expression(from->second);
  if (keyword->kind == ExprKind::Name)
    return {Identifier{ast::as<Name>(*keyword).text, keyword->span}, std::move(value)};
  error(keyword->span, "expected a parameter name before `=`");
  return {std::nullopt, std::move(value)};
}

ExprPtr AstBuilder::reference(P::ReferenceContext* from) {
  ExprPtr base;
  if (from->call != nullptr) {
    base = call(from->name, from->call);
  } else {
    auto name = make<Name>(span(from->name));
    name->text = tokens_.text(*from->name);
    base = std::move(name);
  }
  return with_suffixes(std::move(base), from->suffixes);
}

ExprPtr AstBuilder::with_suffixes(ExprPtr base, const std::vector<P::SuffixContext*>& from) {
  if (depth_ + from.size() > max_depth || from.size() > max_nesting) {
    diagnostics_.report(DiagnosticKind::nested_too_deeply, span(from[0]));
    return base;
  }
  for (P::SuffixContext* suffix : from) {
    const Span at = join(base->span, span(suffix));
    if (suffix->field_name != nullptr) {
      auto node = make<Field>(at);
      node->base = std::move(base);
      node->name = identifier(suffix->field_name);
      base = std::move(node);
      continue;
    }
    auto node = make<Index>(at);
    node->base = std::move(base);
    for (P::Index_entryContext* entry : suffix->entries) node->indices.push_back(index_entry(entry));
    if (node->indices.empty()) {
      error(span(suffix), "expected an index between `[` and `]`");
      node->indices.push_back(placeholder(span(suffix)));
    }
    base = std::move(node);
  }
  return base;
}

ExprPtr AstBuilder::index_entry(P::Index_entryContext* from) {
  if (from->first == nullptr) return expression(from->low);
  auto node = make<Slice>(span(from));
  if (from->low != nullptr) node->low = expression(from->low);
  if (from->high != nullptr) node->high = expression(from->high);
  if (from->step != nullptr) node->step = expression(from->step);
  return node;
}

// ---------------------------------------------------------------- literals

ExprPtr AstBuilder::literal(const antlr4::Token* from, bool negated) {
  const Span at = span(from);
  switch (from->getType()) {
    case P::INT: {
      auto node = make<IntLiteral>(at);
      node->value = integer_value(tokens_.text(*from), negated, at, diagnostics_);
      return node;
    }
    case P::TRUE:
    case P::FALSE: {
      auto node = make<BoolLiteral>(at);
      node->value = from->getType() == P::TRUE;
      return node;
    }
    case P::STRING:
    case P::MULTILINE_STRING: {
      auto node = make<StringLiteral>(at);
      node->value = text_value(from);
      return node;
    }
    default: {
      auto node = make<FloatLiteral>(at);
      node->value = float_value(tokens_.text(*from), at, diagnostics_);
      return node;
    }
  }
}

std::string AstBuilder::text_value(const antlr4::Token* from) {
  return string_value(tokens_.text(*from), span(from), diagnostics_);
}

ExprPtr AstBuilder::group(P::ParenthesisedContext* from) {
  if (from->items.size() == 1) {
    ExprPtr only = expression(from->items[0]);
    if (only->kind == ExprKind::Binary || only->kind == ExprKind::Unary) only->span = span(from);
    return only;
  }
  auto node = make<Tuple>(span(from));
  node->elements = expressions(from->items);
  return node;
}

ExprPtr AstBuilder::array(P::Array_literalContext* from) {
  if (from->range == nullptr) {
    auto node = make<ArrayLiteral>(span(from));
    node->elements = expressions(from->items);
    return node;
  }
  auto node = make<Range>(span(from));
  node->low = expression(from->items[0]);
  node->high = expression(from->high);
  if (from->step != nullptr) node->step = expression(from->step);
  return node;
}

ExprPtr AstBuilder::map(P::Map_literalContext* from) {
  auto node = make<MapLiteral>(span(from));
  for (P::Map_entryContext* entry : from->entries) {
    ExprPtr key = expression(entry->key);
    node->entries.emplace_back(std::move(key), expression(entry->value));
  }
  return node;
}

}  // namespace raddle
