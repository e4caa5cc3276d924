#include "compiler/parse/parse.hpp"

#include <antlr4-runtime.h>

#include <algorithm>

#include "RaddleParser.h"
#include "compiler/parse/build_ast.hpp"
#include "compiler/parse/error_strategy.hpp"
#include "compiler/parse/token_list.hpp"

namespace raddle {

namespace {

using P = RaddleParser;

/// The generated parser with a guard: brackets nest by recursion, so depth is bounded before the stack is.
class GuardedParser final : public RaddleParser {
 public:
  GuardedParser(TokenList& tokens, std::shared_ptr<ErrorStrategy> strategy) : RaddleParser(&tokens), tokens_(tokens) {
    removeErrorListeners();
    setErrorHandler(strategy);
    setBuildParseTree(false);
    getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  }
  /// exitRule can not be overridden: contexts that are no ancestors of the new one were left.
  void enterRule(antlr4::ParserRuleContext* context, std::size_t state, std::size_t rule) override {
    while (!active_.empty() && active_.back() != context->parent) active_.pop_back();
    active_.push_back(context);
    RaddleParser::enterRule(context, state, rule);
    if (tokens_.next().depth > max_nesting || active_.size() > max_active) throw NestedTooDeeply{};
  }
  /// Frees the contexts of the item that was parsed.
  void forget_item() {
    active_.clear();
    setContext(nullptr);
    getTreeTracker().reset();
  }

 private:
  /// A bracket takes six rules at most; bodies without their braces, which are reported later, nest without brackets.
  static constexpr std::size_t max_active = 8 * max_nesting;
  TokenList& tokens_;
  std::vector<antlr4::tree::ParseTree*> active_;
};

class ModuleParser {
 public:
  ModuleParser(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics, const ExpandedText* expanded)
      : diagnostics_(diagnostics),
        tokens_(tokenize(file, sources, diagnostics, expanded)),
        strategy_(std::make_shared<ErrorStrategy>(tokens_, diagnostics)),
        parser_(tokens_, strategy_),
        builder_(tokens_, diagnostics),
        module_(std::make_unique<ast::Module>()) {
    module_->file = file;
    module_->statements.span = {file, 0, static_cast<std::uint32_t>(sources.at(file).text().size())};
  }

  std::unique_ptr<ast::Module> run() {
    try {
      while (tokens_.next().type != SourceToken::end_of_file) {
        item();
        parser_.forget_item();
        strategy_->check_error_count();
      }
    } catch (const TooManyErrors&) {
      diagnostics_.report(DiagnosticKind::syntax_error, tokens_.span(tokens_.next()),
                          "too many syntax errors; what follows was not read");
    }
    return std::move(module_);
  }

 private:
  void item() {
    if (strategy_->skip_foreign_statement()) return;
    const std::size_t start = tokens_.index();
    try {
      P::AnnotationsContext* marks = parser_.annotations();
      if (marks->exception) std::rethrow_exception(marks->exception);
      const bool library = std::ranges::any_of(marks->items, [&](const P::AnnotationContext* mark) {
        const std::string_view name = tokens_.text(*mark->name);
        return name == "library" || name == "python" || name == "r";
      });
      item_after(marks, library);
    } catch (const NestedTooDeeply&) {
      skip_nested(start);
    } catch (const antlr4::ParseCancellationException&) {
      skip_item(start, true);
    }
  }

  void item_after(P::AnnotationsContext* marks, bool library) {
    ast::Module& module = *module_;
    switch (tokens_.next().type) {
      case P::IMPORT: module.imports.push_back(builder_.import_item(parser_.import_item())); break;
      case P::PRAGMA: module.pragmas.push_back(builder_.pragma_item(parser_.pragma_item())); break;
      case P::GLOBAL: module.constants.push_back(builder_.global_constant(parser_.global_constant())); break;
      case P::TYPEDEF: module.types.push_back(builder_.type_alias(parser_.type_alias())); break;
      case P::TYPE: module.types.push_back(builder_.type_definition(parser_.type_definition())); break;
      case P::APP: {
        P::App_definitionContext* context = parser_.app_definition();
        module.functions.push_back(builder_.app_definition(context, builder_.annotations(marks->items)));
        return;
      }
      default:
        if (is_function_definition(library)) {
          P::Function_definitionContext* context = parser_.function_definition();
          module.functions.push_back(builder_.function_definition(context, builder_.annotations(marks->items)));
        } else if (ErrorStrategy::begins_statement(tokens_.next().type)) {
          P::StatementContext* context = parser_.statement();
          if (ast::StmtPtr one = builder_.statement(context, builder_.annotations(marks->items)))
            module.statements.statements.push_back(std::move(one));
        } else {
          strategy_->skip_unexpected_item();
        }
        return;
    }
    builder_.refuse(builder_.annotations(marks->items));
  }

  std::uint32_t type(std::size_t ahead) { return tokens_.next(ahead).type; }

  /// Tells `(int o) f(int i) {` and `f(int i) {` from `(a, b) = f(x);` and `f(x);`, by the token behind the first
  /// parenthesis or, if that says nothing, by what is inside: formals are two names in a row.
  bool is_function_definition(bool library) {
    const std::uint32_t first = type(0);
    if (first == P::LT) return true;
    const bool named = first == P::ID;
    if (named && type(1) == P::LBRACE) return is_called_somewhere(tokens_.text(tokens_.next()));
    if (!named && first != P::LPAREN) return false;
    const std::size_t open = named ? 1 : 0;
    if (type(open) != P::LPAREN) return false;
    if (library) return true;
    const std::uint32_t partner = tokens_.next(open).partner;
    if (partner != SourceToken::no_partner) {
      const std::uint32_t after = tokens_.at(partner + 1).type;
      const bool block_after = after == P::LBRACE && !tokens_.at(partner + 1).first_on_line;
      if (named && (after == P::STRING || after == P::MULTILINE_STRING)) return true;
      if (named && block_after && type(2) == P::RPAREN) return true;
      if (!named && after == P::ID && !tokens_.at(partner + 1).first_on_line) return true;
    }
    const std::uint32_t inside = type(open + 1);
    const std::uint32_t next = type(open + 2);
    if (inside == P::RPAREN) return !named || type(open + 2) == P::LBRACE;
    const std::uint32_t behind = type(open + 3);
    const bool reserved_name = next >= P::APP && next <= P::WAIT && (behind == P::RPAREN || behind == P::COMMA);
    return inside == P::ID && (next == P::ID || reserved_name || next == P::BAR || next == P::ELLIPSIS ||
                               is_bag_type(open + 1) || (next == P::LBRACK && type(open + 3) == P::RBRACK));
  }
  /// `loop { ... }` defines a function, whose list of arguments is left out, if there are calls `loop()`; else it is a
  /// statement of another language.
  bool is_called_somewhere(std::string_view name) {
    if (name == "main") return true;
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i)
      if (tokens_.at(i).type == P::ID && tokens_.at(i + 1).type == P::LPAREN && tokens_.text(tokens_.at(i)) == name)
        return true;
    return false;
  }
  /// `bag<T> name`
  bool is_bag_type(std::size_t at) {
    return type(at + 1) == P::LT && type(at + 2) == P::ID && type(at + 3) == P::GT && type(at + 4) == P::ID;
  }

  /// Goes on behind an item with an error. The block of a function whose header is wrong is still read, to report what
  /// is wrong in it.
  void skip_item(std::size_t start, bool may_have_block) {
    std::size_t keyword = start;
    while (tokens_.at(keyword).type == P::AT && keyword < tokens_.index()) keyword += 2;
    const std::uint32_t type = tokens_.at(keyword).type;
    const bool function = type == P::ID || type == P::LPAREN || type == P::LT;
    if (type == P::TYPE || type == P::APP) skip_braces(keyword);
    if (tokens_.index() == start) tokens_.consume();
    strategy_->skip_item(start, may_have_block && function);
    if (!may_have_block || !function || tokens_.next().type != P::LBRACE) return;
    const std::size_t open = tokens_.index();
    try {
      parser_.block();
    } catch (const NestedTooDeeply&) {
      skip_nested(open);
    } catch (const antlr4::ParseCancellationException&) {
      skip_item(open, false);
    }
  }

  /// If the next token lies in braces opened since token `start`: goes to the closing one.
  void skip_braces(std::size_t start) {
    for (std::size_t i = start; i < tokens_.index(); ++i) {
      const SourceToken& token = tokens_.at(i);
      if (token.type != P::LBRACE || token.partner == SourceToken::no_partner) continue;
      if (token.partner >= tokens_.index()) tokens_.seek(token.partner);
      return;
    }
  }

  /// Goes on behind the outermost bracket that is open, or nowhere if it is never closed.
  void skip_nested(std::size_t start) {
    strategy_->report_nesting();
    const std::size_t here = tokens_.index();
    for (std::size_t i = start; i <= here; ++i) {
      const std::uint32_t partner = tokens_.at(i).partner;
      if (partner != SourceToken::no_partner && partner >= here) return tokens_.seek(partner + 1);
    }
    tokens_.seek(tokens_.size() - 1);
  }

  Diagnostics& diagnostics_;
  TokenList tokens_;
  std::shared_ptr<ErrorStrategy> strategy_;
  GuardedParser parser_;
  AstBuilder builder_;
  std::unique_ptr<ast::Module> module_;
};

}  // namespace

std::unique_ptr<ast::Module> parse(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics,
                                   const ExpandedText* expanded) {
  const std::size_t first = diagnostics.all().size();
  auto module = ModuleParser(file, sources, diagnostics, expanded).run();
  diagnostics.order_by_position(first);
  return module;
}

}  // namespace raddle
