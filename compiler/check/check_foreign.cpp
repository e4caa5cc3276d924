#include "compiler/check/check_foreign.hpp"

#include <algorithm>

#include "compiler/check/annotations.hpp"

namespace raddle::check_detail {
namespace {

using ast::FunctionDefinition;

class ForeignChecker {
 public:
  ForeignChecker(Context& context, const FunctionDefinition& function) : context_(context), function_(function) {}

  void library() {
    const ast::Annotation* annotation = find_annotation(function_.annotations, "library");
    if (annotation->value == nullptr || annotation->value->kind != ast::ExprKind::StringLiteral)
      report(DiagnosticKind::bad_library, annotation->span, "needs its library's name as a string literal");
    if (function_.outputs.size() > 1)
      report(DiagnosticKind::bad_library, function_.outputs[1].span, "has one output at most, which C returns");
    for (const ast::Formal& output : function_.outputs) {
      const TypeId type = base(output);
      if (!context_.store().is_scalar(type) && type != TypeStore::void_ && type != TypeStore::error)
        report(DiagnosticKind::bad_library, output.span, misfit(output, "return"));
    }
    for (const ast::Formal& input : function_.inputs)
      if (!can_be_passed(base(input))) report(DiagnosticKind::bad_library, input.span, misfit(input, "take"));
  }

  void tcl() {
    if (function_.tcl_template) return tcl_template(*function_.tcl_template);
    if (function_.tcl_package.size() < 3)
      context_.diagnostics.report(DiagnosticKind::bad_tcl, function_.name.span, function_.name.text);
  }

 private:
  /// Each `<<name>>` is an input or output. `\` makes the next character an ordinary one.
  void tcl_template(const std::string& code) {
    std::vector<std::string> names;
    for (const ast::Formal& formal : function_.outputs) names.push_back(formal.name.text);
    for (const ast::Formal& formal : function_.inputs) names.push_back(formal.name.text);
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i] == '\\') {
        ++i;
        continue;
      }
      const std::size_t close = code.compare(i, 2, "<<") == 0 ? code.find(">>", i) : std::string::npos;
      if (close == std::string::npos) continue;
      const std::string name = code.substr(i + 2, close - i - 2);
      i = close + 1;
      if (std::ranges::find(names, name) != names.end()) continue;
      Diagnostic& diagnostic =
          context_.diagnostics.report(DiagnosticKind::unknown_variable, place_of("<<" + name + ">>"), name);
      suggest(diagnostic, name, names);
      diagnostic.note("`<<...>>` in a template names an input or output; `\\<<` is a `<<` of Tcl");
      names.push_back(name);  // once
    }
  }

  /// What stands between the marks of `written`, as the template stands in the script; else the function's name.
  Span place_of(const std::string& written) const {
    const Span all = function_.span;
    const std::string_view text = std::string_view(context_.sources.at(all.file).text()).substr(0, all.end);
    const std::size_t found = text.find(written, all.begin);
    if (found == std::string_view::npos) return function_.name.span;
    const auto begin = static_cast<std::uint32_t>(found + 2);
    return {all.file, begin, begin + static_cast<std::uint32_t>(written.size() - 4)};
  }

  void report(DiagnosticKind kind, Span span, std::string_view what) { context_.diagnostics.report(kind, span, what); }
  TypeId base(const ast::Formal& formal) const { return context_.store().base(formal.resolved_type); }
  std::string misfit(const ast::Formal& formal, const char* verb) const {
    return std::string("can not ") + verb + " a `" + context_.name(formal.resolved_type) + "`";
  }

  /// Scalars, `void` (only waited for), and arrays that C can read side by side.
  bool can_be_passed(TypeId type) const {
    if (context_.store().is_scalar(type) || type == TypeStore::void_ || type == TypeStore::error) return true;
    if (!context_.store().is_array(type)) return false;
    const TypeId element = context_.store().base(context_.store().at(type).element);
    return context_.store().base(context_.store().at(type).key) == TypeStore::int_ &&
           (element == TypeStore::int_ || element == TypeStore::float_ || element == TypeStore::boolean);
  }

  Context& context_;
  const FunctionDefinition& function_;
};

}  // namespace

void check_foreign(Context& context, const FunctionDefinition& function) {
  if (function.body_kind == ast::BodyKind::library) ForeignChecker(context, function).library();
  if (function.body_kind == ast::BodyKind::tcl) ForeignChecker(context, function).tcl();
  if (function.body_kind == ast::BodyKind::library) return;
  for (const ast::Annotation& annotation : function.annotations)
    if (annotation.name.text == "isolate" || annotation.name.text == "library")
      context.diagnostics.report(DiagnosticKind::bad_library, mark_of(annotation),
                                 "is declared without a body: `@" + annotation.name.text + "` is for these only");
}

}  // namespace raddle::check_detail
