#include "compiler/ast/print.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "compiler/source/string_literal.hpp"

namespace raddle::ast {

namespace {

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

class Printer {
 public:
  std::string take() { return std::move(out_); }

  void module(const Module& from) {
    line("module");
    const Indent inside(*this);
    for (const Import& one : from.imports) line("import {}", one.module);
    for (const Pragma& one : from.pragmas)
      line("pragma {}{}{}", one.name.text, one.arguments.empty() ? "" : " ", list(one.arguments, " "));
    for (const TypeDefinition& one : from.types) type_definition(one);
    for (const auto& one : from.constants)
      line("global const {} {} = {}", type(one->type), one->name.text, expr(*one->value));
    for (const auto& one : from.functions) function(*one);
    for (const StmtPtr& one : from.statements.statements) statement(*one);
  }

  std::string expr(const Expr& from) const {
    switch (from.kind) {
      case ExprKind::IntLiteral: return fmt::format("{}", as<IntLiteral>(from).value);
      case ExprKind::FloatLiteral: return number(as<FloatLiteral>(from).value);
      case ExprKind::StringLiteral: return string_literal(as<StringLiteral>(from).value);
      case ExprKind::BoolLiteral: return as<BoolLiteral>(from).value ? "true" : "false";
      case ExprKind::Name: return as<Name>(from).text;
      case ExprKind::Unary: {
        const auto& node = as<Unary>(from);
        return fmt::format("({}{})", node.op == UnaryOp::negate ? "-" : "!", expr(*node.operand));
      }
      case ExprKind::Binary: {
        const auto& node = as<Binary>(from);
        return fmt::format("({} {} {})", expr(*node.left), text_of(node.op), expr(*node.right));
      }
      case ExprKind::Call: return call(as<Call>(from));
      case ExprKind::Index: {
        const auto& node = as<Index>(from);
        return fmt::format("{}[{}]", expr(*node.base), list(node.indices, ", "));
      }
      case ExprKind::Slice: {
        const auto& node = as<Slice>(from);
        return fmt::format("{}:{}{}{}", optional(node.low), optional(node.high), node.step ? ":" : "",
                           optional(node.step));
      }
      case ExprKind::Field: return expr(*as<Field>(from).base) + "." + as<Field>(from).name.text;
      case ExprKind::ArrayLiteral: return fmt::format("[{}]", list(as<ArrayLiteral>(from).elements, ", "));
      case ExprKind::MapLiteral: return map(as<MapLiteral>(from));
      case ExprKind::Range: {
        const auto& node = as<Range>(from);
        return fmt::format("[{}:{}{}{}]", expr(*node.low), expr(*node.high), node.step ? ":" : "", optional(node.step));
      }
      case ExprKind::Tuple: return fmt::format("({})", list(as<Tuple>(from).elements, ", "));
      case ExprKind::FileName: return "@" + expr(*as<FileName>(from).file);
    }
    return {};
  }

 private:
  /// Lines are one step further right while it lives.
  class Indent {
   public:
    explicit Indent(Printer& printer) : printer_(printer) { ++printer_.depth_; }
    ~Indent() { --printer_.depth_; }
    Indent(const Indent&) = delete;
    Indent& operator=(const Indent&) = delete;

   private:
    Printer& printer_;
  };

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  // ---------------------------------------------------------------- parts of lines

  std::string optional(const ExprPtr& from) const { return from ? expr(*from) : std::string(); }

  std::string list(const std::vector<ExprPtr>& from, std::string_view separator) const {
    std::string out;
    for (const ExprPtr& one : from) {
      if (!out.empty()) out += separator;
      out += expr(*one);
    }
    return out;
  }

  std::string map(const MapLiteral& from) const {
    std::string out;
    for (const auto& [key, value] : from.entries) {
      if (!out.empty()) out += ", ";
      out += expr(*key) + ": " + expr(*value);
    }
    return "{" + out + "}";
  }

  std::string call(const Call& from) const {
    std::string arguments;
    for (const Call::Argument& one : from.arguments) {
      if (!arguments.empty()) arguments += ", ";
      if (one.keyword) arguments += one.keyword->text + "=";
      arguments += expr(*one.value);
    }
    return fmt::format("{}{}({})", annotations(from.annotations), from.callee.text, arguments);
  }

  std::string annotations(const Annotations& from) const {
    std::string out;
    for (const Annotation& one : from) {
      out += "@" + one.name.text;
      if (one.value) out += "=" + expr(*one.value);
      out += ' ';
    }
    return out;
  }

  std::string dimensions(const std::vector<Dimension>& from) const {
    std::string out;
    for (const Dimension& one : from) out += "[" + list(one.entries, ", ") + "]";
    return out;
  }

  std::string type(const TypeExpr& from) const {
    std::string out = from.name.text;
    for (const TypeExpr& argument : from.arguments) out += "<" + type(argument) + ">";
    out += dimensions(from.dimensions);
    for (const TypeExpr& other : from.alternatives) out += "|" + type(other);
    return out;
  }

  std::string formals(const std::vector<Formal>& from) const {
    std::string out;
    for (const Formal& one : from) {
      if (!out.empty()) out += ", ";
      out +=
          fmt::format("{}{} {}{}", type(one.type), one.varargs ? "..." : "", one.name.text, dimensions(one.dimensions));
      if (one.default_value) out += "=" + expr(*one.default_value);
    }
    return "(" + out + ")";
  }

  // ---------------------------------------------------------------- definitions

  void type_definition(const TypeDefinition& from) {
    switch (from.kind) {
      case TypeDefinitionKind::alias: line("typedef {} {}", from.name.text, type(from.base)); return;
      case TypeDefinitionKind::distinct: line("type {} {}", from.name.text, type(from.base)); return;
      case TypeDefinitionKind::file_subtype: line("type {}", from.name.text); return;
      case TypeDefinitionKind::structure: break;
    }
    line("type {}", from.name.text);
    const Indent inside(*this);
    for (const Formal& field : from.fields)
      line("{} {}{}", type(field.type), field.name.text, dimensions(field.dimensions));
  }

  void function(const FunctionDefinition& from) {
    std::string parameters;
    for (const Identifier& one : from.type_parameters) parameters += (parameters.empty() ? "<" : ", ") + one.text;
    if (!parameters.empty()) parameters += "> ";
    line("{}{} {}{} {}{}", annotations(from.annotations), from.body_kind == BodyKind::command ? "app" : "function",
         parameters, formals(from.outputs), from.name.text, formals(from.inputs));
    const Indent inside(*this);
    switch (from.body_kind) {
      case BodyKind::block: statements(*from.block); break;
      case BodyKind::command: command(from.command); break;
      case BodyKind::library: line("library"); break;
      case BodyKind::tcl: {
        std::string parts;
        for (const std::string& part : from.tcl_package) parts += " " + string_literal(part);
        line("tcl{} [{}]", parts, string_literal(from.tcl_template.value_or("")));
        break;
      }
    }
  }

  void command(const CommandLine& from) {
    line("command {}", list(from.words, " "));
    const Indent inside(*this);
    constexpr const char* streams[] = {"stdin", "stdout", "stderr"};
    for (const CommandLine::Redirection& one : from.redirections)
      line("{} {}", streams[static_cast<std::size_t>(one.stream)], expr(*one.file));
  }

  // ---------------------------------------------------------------- statements

  void statements(const Block& from) {
    for (const StmtPtr& one : from.statements) statement(*one);
  }
  void body(const Block& from) {
    const Indent inside(*this);
    statements(from);
  }

  void statement(const Stmt& from) {
    switch (from.kind) {
      case StmtKind::Declaration: return declaration(as<Declaration>(from));
      case StmtKind::Assign: {
        const auto& node = as<Assign>(from);
        return line("{}{} = {}", annotations(node.annotations), list(node.targets, ", "), list(node.values, ", "));
      }
      case StmtKind::Append: return line("{} += {}", expr(*as<Append>(from).target), expr(*as<Append>(from).value));
      case StmtKind::Update: {
        const auto& node = as<Update>(from);
        return line("{} <{}> := {}", node.target.text, node.mode.text, expr(*node.value));
      }
      case StmtKind::Evaluate: return line("{}", expr(*as<Evaluate>(from).expr));
      case StmtKind::If: return if_(as<If>(from));
      case StmtKind::Switch: return switch_(as<Switch>(from));
      case StmtKind::Foreach: {
        const auto& node = as<Foreach>(from);
        line("{}foreach {}{}{} in {}", annotations(node.annotations), node.value.text, node.key ? ", " : "",
             node.key ? node.key->text : "", expr(*node.iterable));
        return body(*node.body);
      }
      case StmtKind::For: return for_(as<For>(from));
      case StmtKind::Iterate: {
        const auto& node = as<Iterate>(from);
        line("{}iterate {}", annotations(node.annotations), node.counter.text);
        body(*node.body);
        return line("until {}", expr(*node.until));
      }
      case StmtKind::Wait: {
        const auto& node = as<Wait>(from);
        line("wait{} {}", node.deep ? " deep" : "", list(node.awaited, ", "));
        return body(*node.body);
      }
      case StmtKind::Try: {
        line("try");
        body(*as<Try>(from).body);
        line("else");
        return body(*as<Try>(from).otherwise);
      }
      case StmtKind::Chain: {
        line("chain");
        const Indent inside(*this);
        for (const StmtPtr& link : as<Chain>(from).links) statement(*link);
        return;
      }
      case StmtKind::Block: line("block"); return body(as<Block>(from));
      case StmtKind::Empty: return line("empty");
    }
  }

  void declaration(const Declaration& from) {
    std::string declarators;
    for (const Declarator& one : from.declarators) {
      declarators += fmt::format("{}{}{}", declarators.empty() ? " " : ", ", one.name.text, dimensions(one.dimensions));
      if (one.mapping) declarators += " <" + expr(*one.mapping) + ">";
      if (one.value) declarators += " = " + expr(*one.value);
    }
    line("{}declare {}{}{}", annotations(from.annotations), type(from.type), declarators,
         from.comment.empty() ? "" : " // " + string_literal(from.comment));
  }

  void if_(const If& from) {
    const If* one = &from;
    line("if {}", expr(*one->condition));
    body(*one->then_block);
    while (one->else_block && one->else_block->kind == StmtKind::If) {
      one = &as<If>(*one->else_block);
      line("else if {}", expr(*one->condition));
      body(*one->then_block);
    }
    if (!one->else_block) return;
    line("else");
    body(as<Block>(*one->else_block));
  }

  void switch_(const Switch& from) {
    line("switch {}", expr(*from.value));
    const Indent inside(*this);
    for (const Switch::Case& one : from.cases) {
      if (one.label)
        line("case {}", *one.label);
      else
        line("default");
      body(*one.block);
    }
  }

  void for_(const For& from) {
    line("{}for", annotations(from.annotations));
    {
      const Indent header(*this);
      for (const For::Variable& one : from.variables)
        line("initial {}{}{} = {}", one.type ? type(*one.type) : "", one.type ? " " : "", one.name.text,
             expr(*one.initial));
      line("while {}", expr(*from.condition));
      for (const For::UpdateClause& one : from.updates) line("next {} = {}", one.name.text, expr(*one.value));
    }
    body(*from.body);
  }

  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print(const Module& module) {
  Printer printer;
  printer.module(module);
  return printer.take();
}

std::string print(const Expr& expr) { return Printer().expr(expr); }

}  // namespace raddle::ast
