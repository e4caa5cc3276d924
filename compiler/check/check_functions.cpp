#include "compiler/check/check_functions.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "compiler/check/check_statement.hpp"
#include "compiler/check/resolve_types.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;

/// A formal may have the name of a top-level variable: which of them is meant in the body is plain.
void bind_formals(Context& context, Scopes& scopes, const std::vector<ast::Formal>& formals) {
  for (const ast::Formal& formal : formals) {
    const VariableId other = scopes.find(formal.name.text);
    if (other != ast::no_variable) {
      const Variable& variable = context.variable(other);
      const bool formal_too = variable.role == VariableRole::input || variable.role == VariableRole::output;
      if (formal_too) {
        context.diagnostics.report(DiagnosticKind::redeclared, formal.name.span, formal.name.text)
            .label(variable.span, "first declared here");
        context.silenced.insert({other, formal.variable});
      }
    }
    scopes.bind(formal.name.text, formal.variable);
  }
}

/// Null: it is not dense, or its extents are not named.
ast::Dimension* dense_dimension(const Context& context, ast::Formal& formal) {
  return context.store().is_dense(formal.resolved_type) ? extents_of(formal.type, formal.dimensions) : nullptr;
}

/// `float x[n]`: `n` is the extent of the argument, unless it is an input, a constant or the extent of one before: then
/// both are to be equal. What hides a top-level variable so is meant to.
void bind_extents(Context& context, Scopes& scopes, ExpressionChecker& expressions, ast::FunctionDefinition& function) {
  for (ast::Formal& input : function.inputs) {
    ast::Dimension* const dimension = dense_dimension(context, input);
    if (dimension == nullptr) continue;
    for (auto& entry : dimension->entries) {
      input.extents.push_back(ast::no_variable);
      if (entry->kind != ast::ExprKind::Name) continue;
      auto& name = as<ast::Name>(*entry);
      const VariableId known = scopes.find(name.text);
      if (known != ast::no_variable && context.variable(known).role != VariableRole::global) continue;
      input.extents.back() = context.add_variable({name.text, name.span}, TypeStore::int_, VariableRole::input);
      scopes.bind(name.text, input.extents.back());
    }
  }
  for (auto* const formals : {&function.inputs, &function.outputs}) {
    for (ast::Formal& formal : *formals) {
      // in arrays of dense ones, too: names are bound by dense inputs only
      if (!has_dense_inside(context.store(), formal.resolved_type)) continue;
      ast::Dimension* const dimension = extents_of(formal.type, formal.dimensions);
      if (dimension == nullptr || !has_extents(context, *dimension)) continue;
      dimension->is_of_extents = true;
      for (auto& entry : dimension->entries)
        if (!is_open(*entry)) expressions.value_of_type(*entry, TypeStore::int_);
    }
  }
}

/// Code outside of the script does not know them yet.
void refuse_dense(Context& context, const ast::FunctionDefinition& function) {
  for (const auto* formals : {&function.inputs, &function.outputs})
    for (const ast::Formal& formal : *formals)
      if (context.store().is_dense(formal.resolved_type))
        context.diagnostics
            .report(DiagnosticKind::not_supported, formal.span, "a dense array of an app or of a function in Tcl")
            .note("it may take a growing array, `float " + formal.name.text +
                  "[]`, to which a dense one is passed as it is");
}

/// One app function.
class CommandChecker {
 public:
  CommandChecker(Context& context, Scopes& scopes, ast::FunctionDefinition& function)
      : context_(context), expressions_(context, scopes), function_(function) {}

  void check() {
    check_outputs();
    expressions_.annotation_values(function_.annotations);
    const std::size_t errors = context_.diagnostics.error_count();
    bool is_command = true;
    for (auto& word : function_.command.words) {
      check_word(*word, is_command);
      is_command = false;
    }
    for (ast::CommandLine::Redirection& redirection : function_.command.redirections) check_redirection(redirection);
    // a word that is wrong may stand for an output
    if (context_.diagnostics.error_count() == errors) report_unused_outputs();
  }

 private:
  void check_outputs() {
    const ast::Formal* exit_code = nullptr;
    for (const ast::Formal& output : function_.outputs) {
      const TypeId type = context_.store().base(output.resolved_type);
      if (type == TypeStore::file || type == TypeStore::url || type == TypeStore::void_ || type == TypeStore::error)
        continue;
      if (type == TypeStore::int_ && std::exchange(exit_code, &output) == nullptr) continue;
      wrong_outputs_.insert(output.variable);
      Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::bad_app_output, output.type.span,
                                                           output.name.text, context_.name(output.resolved_type));
      if (type == TypeStore::string)
        diagnostic.note("let the program write a file, as with `@stdout=`, and `read` that");
    }
  }

  void check_word(ast::Expr& word, bool is_command) {
    const std::size_t reported = context_.diagnostics.all().size();
    const TypeId type = expressions_.value(word);
    if (word.kind == ast::ExprKind::Name && reported != context_.diagnostics.all().size()) {
      note_call(word);
      context_.diagnostics.latest().note("a word that means itself stands in quotes: `\"" +
                                         ast::as<ast::Name>(word).text + "\"`");
    }
    note_use(word);
    if (type == TypeStore::error) return;
    if (is_command) {
      if (context_.store().base(type) != TypeStore::string)
        context_.diagnostics.report(DiagnosticKind::bad_command, word.span, context_.name(type));
    } else if (!can_be_word(type)) {
      context_.diagnostics.report(DiagnosticKind::bad_word, word.span, context_.name(type));
    }
  }

  /// Of a word that was reported: `input("x")` without parentheses around it is two words.
  void note_call(const ast::Expr& word) {
    const std::string& name = ast::as<ast::Name>(word).text;
    if (context_.diagnostics.latest().kind == DiagnosticKind::function_as_variable)
      context_.diagnostics.latest().note("on a command line a call stands in parentheses: `(" + name + "(...))`");
  }

  bool can_be_word(TypeId type) const {
    TypeId base = context_.store().base(type);
    while (context_.store().is_array(base)) base = context_.store().base(context_.store().at(base).element);
    return context_.store().is_scalar(base) || base == TypeStore::file || base == TypeStore::url ||
           base == TypeStore::error;
  }

  void check_redirection(ast::CommandLine::Redirection& redirection) {
    static constexpr std::array names = {"@stdin", "@stdout", "@stderr"};
    const std::size_t reported = context_.diagnostics.all().size();
    const TypeId found = expressions_.value(*redirection.file);
    const char* const stream = names[static_cast<std::size_t>(redirection.stream)];
    if (redirection.file->kind == ast::ExprKind::Name && reported != context_.diagnostics.all().size()) {
      if (as<const ast::Name>(*redirection.file).text == "filename")
        context_.diagnostics.latest().help = {fmt::format("a redirection takes the file itself, not its name: `{}={}`",
                                                          stream, file_example(redirection.stream))};
      else
        note_call(*redirection.file);
    }
    note_use(*redirection.file);
    const TypeId base = context_.store().base(found);
    const bool reads = redirection.stream == ast::Redirect::stdin_;
    const bool is_file = base == TypeStore::file || (reads && base == TypeStore::url);
    if (is_file) check_direction(*redirection.file, reads, stream);
    if (is_file || base == TypeStore::error) return;
    const ast::Expr& file = *redirection.file;
    const bool is_reported =
        file.kind == ast::ExprKind::Name && wrong_outputs_.contains(as<const ast::Name>(file).variable);
    if (is_reported) return;
    context_.diagnostics.report(DiagnosticKind::bad_redirection, redirection.file->span, stream, context_.name(found));
  }

  /// What may stand behind `stream`: the first file of the app that goes in that direction.
  std::string file_example(ast::Redirect stream) const {
    for (const ast::Formal& formal : stream == ast::Redirect::stdin_ ? function_.inputs : function_.outputs)
      if (context_.store().base(formal.resolved_type) == TypeStore::file) return formal.name.text;
    return "f";
  }

  /// An input, or what is in one, can not be written, and an output is not there to be read.
  void check_direction(const ast::Expr& file, bool reads, const char* stream) {
    const ast::Expr* root = &file;
    while (root->kind == ast::ExprKind::Field || root->kind == ast::ExprKind::Index)
      root = root->kind == ast::ExprKind::Field ? as<const ast::Field>(*root).base.get()
                                                : as<const ast::Index>(*root).base.get();
    if (root->kind != ast::ExprKind::Name) return;
    const auto& name = as<const ast::Name>(*root);
    if (name.variable == ast::no_variable) return;
    const VariableRole role = context_.variable(name.variable).role;
    if (!reads && role == VariableRole::input)
      context_.diagnostics.report(DiagnosticKind::not_assignable, file.span, name.text, "an input of the app")
          .note(fmt::format("`{}` writes to an output of the app", stream));
    if (reads && role == VariableRole::output)
      context_.diagnostics
          .report(DiagnosticKind::deadlock, file.span, name.text, "is read by the program that makes it")
          .note(fmt::format("`{}` reads a file that is an input of the app", stream));
  }

  /// Remembers which variables the command line names, also inside arrays and calls.
  void note_use(const ast::Expr& expr) {
    switch (expr.kind) {
      case ast::ExprKind::Name: used_.insert(as<const ast::Name>(expr).variable); break;
      case ast::ExprKind::FileName: note_use(*as<const ast::FileName>(expr).file); break;
      case ast::ExprKind::Unary: note_use(*as<const ast::Unary>(expr).operand); break;
      case ast::ExprKind::Field: note_use(*as<const ast::Field>(expr).base); break;
      case ast::ExprKind::Index: note_use(*as<const ast::Index>(expr).base); break;
      case ast::ExprKind::Binary:
        note_use(*as<const ast::Binary>(expr).left);
        note_use(*as<const ast::Binary>(expr).right);
        break;
      case ast::ExprKind::Call:
        for (const auto& argument : as<const ast::Call>(expr).arguments) note_use(*argument.value);
        break;
      case ast::ExprKind::ArrayLiteral:
        for (const auto& element : as<const ast::ArrayLiteral>(expr).elements) note_use(*element);
        break;
      case ast::ExprKind::Tuple:
        for (const auto& element : as<const ast::Tuple>(expr).elements) note_use(*element);
        break;
      case ast::ExprKind::MapLiteral:
        for (const auto& entry : as<const ast::MapLiteral>(expr).entries) note_use(*entry.second);
        break;
      case ast::ExprKind::IntLiteral:
      case ast::ExprKind::FloatLiteral:
      case ast::ExprKind::StringLiteral:
      case ast::ExprKind::BoolLiteral:
      case ast::ExprKind::Range:
      case ast::ExprKind::Slice: break;
    }
  }

  void report_unused_outputs() {
    for (const ast::Formal& output : function_.outputs) {
      const TypeId type = context_.store().base(output.resolved_type);
      if ((type != TypeStore::file && type != TypeStore::url) || used_.contains(output.variable)) continue;
      context_.diagnostics.report(DiagnosticKind::unused_app_output, output.name.span, output.name.text)
          .note("`@suppress=unused_app_output` before the definition silences this");
    }
  }

  Context& context_;
  ExpressionChecker expressions_;
  ast::FunctionDefinition& function_;
  std::unordered_set<VariableId> used_;
  std::unordered_set<VariableId> wrong_outputs_;  ///< of a type that an output can not have
};

}  // namespace

void check_function_bodies(Context& context) {
  for (const auto& module : context.program.modules) {
    for (const auto& function : module->functions) {
      context.function = function.get();
      Scopes scopes(context, true);
      bind_formals(context, scopes, function->outputs);
      bind_formals(context, scopes, function->inputs);
      switch (function->body_kind) {
        case ast::BodyKind::block: {
          StatementChecker statements(context, scopes);
          bind_extents(context, scopes, statements.expressions(), *function);
          statements.expressions().annotation_values(function->annotations);
          statements.statements(*function->block);
          break;
        }
        case ast::BodyKind::command:
          refuse_dense(context, *function);
          CommandChecker(context, scopes, *function).check();
          break;
        case ast::BodyKind::tcl: refuse_dense(context, *function); break;
        case ast::BodyKind::library: {
          ExpressionChecker expressions(context, scopes);
          bind_extents(context, scopes, expressions, *function);
          break;
        }
      }
    }
  }
  context.function = nullptr;
}

}  // namespace raddle::check_detail
