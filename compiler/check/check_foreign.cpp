#include "compiler/check/check_foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/check/annotations.hpp"
#include "compiler/check/resolve_types.hpp"

namespace raddle::check_detail {
namespace {

using ast::as;
using ast::FunctionDefinition;

class ForeignChecker {
 public:
  ForeignChecker(Context& context, const FunctionDefinition& function) : context_(context), function_(function) {}

  void library() {
    const ast::Annotation* annotation = find_annotation(function_.annotations, "library");
    if (annotation->value == nullptr || annotation->value->kind != ast::ExprKind::StringLiteral)
      report(annotation->span, "needs its library's name as a string literal");
    std::size_t returned = 0;
    for (const ast::Formal& output : function_.outputs) {
      if (!check_output(output, "return")) continue;
      if (++returned == 2) report(output.span, "has one output at most that is no dense array: what C returns");
    }
    check_inputs();
  }

  void kernel() {
    kind_ = DiagnosticKind::bad_kernel;
    const ast::Annotation* annotation = find_annotation(function_.annotations, "kernel");
    if (annotation->value != nullptr && annotation->value->kind != ast::ExprKind::StringLiteral)
      report(annotation->span, "needs its file's name as a string literal, as \"file.cu\" or \"file.cu:name\"");
    else if (annotation->value != nullptr)
      check_kernel_name(as<ast::StringLiteral>(*annotation->value));
    for (const char* const other : {"library", "isolate"})
      if (const ast::Annotation* both = find_annotation(function_.annotations, other); both != nullptr)
        report(both->span, fmt::format("is no function of a library: `@{}` is for these", other));
    for (const ast::Formal& output : function_.outputs)
      if (check_output(output, "give") && (base(output) == TypeStore::string || base(output) == TypeStore::void_))
        report(output.span, misfit(output, "give"));
    check_inputs();
  }

  void python() {
    kind_ = DiagnosticKind::bad_python;
    const ast::Annotation* annotation = find_annotation(function_.annotations, "python");
    if (annotation->value != nullptr && annotation->value->kind != ast::ExprKind::StringLiteral)
      report(annotation->span, "needs the names of its module and function as a string literal, as \"model:run\"");
    else if (annotation->value != nullptr)
      check_python_name(as<ast::StringLiteral>(*annotation->value));
    refuse_others({"library", "isolate", "kernel", "r"});
    check_served();
  }

  void r() {
    kind_ = DiagnosticKind::bad_r;
    const ast::Annotation* annotation = find_annotation(function_.annotations, "r");
    if (annotation->value != nullptr && annotation->value->kind != ast::ExprKind::StringLiteral)
      report(annotation->span, "needs the names of its file and function as a string literal, as \"model.R:run\"");
    else if (annotation->value != nullptr)
      check_r_name(as<ast::StringLiteral>(*annotation->value));
    refuse_others({"library", "isolate", "kernel"});
    check_served();
  }

  void tcl() {
    if (function_.tcl_template) return tcl_template(*function_.tcl_template);
    if (function_.tcl_package.size() < 3)
      context_.diagnostics.report(DiagnosticKind::bad_tcl, function_.name.span, function_.name.text);
  }

 private:
  void refuse_others(std::initializer_list<const char*> names) {
    for (const char* const other : names)
      if (const ast::Annotation* both = find_annotation(function_.annotations, other); both != nullptr)
        report(both->span, fmt::format("can not have `@{}`, too", other));
  }

  /// Arrays that it gives tell their extents, so these need not be known.
  void check_served() {
    for (const ast::Formal& output : function_.outputs) {
      const TypeId type = base(output);
      if (is_dense_of_numbers(type) || is_scalar_or_void(type)) continue;
      Diagnostic& diagnostic = report(output.span, misfit(output, "give"));
      const bool is_array = context_.store().is_array(type);
      if (is_array && is_number(context_.store().at(type).element))
        diagnostic.note(fmt::format("it gives dense arrays, as `{} {}[:]`",
                                    context_.name(context_.store().at(type).element), output.name.text));
      else if (is_array && context_.store().base(context_.store().at(type).element) == TypeStore::string)
        diagnostic.note(fmt::format("it gives a `string`, of whose lines `split({}(..), \"\\n\")` makes an array",
                                    function_.name.text));
    }
    check_inputs();
  }

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

  void check_kernel_name(const ast::StringLiteral& value) {
    const NameInFile kernel = name_in_file(value.value, function_.name.text);
    if (kernel.file.empty() || kernel.file.find('\0') != std::string::npos)
      report(value.span, "has no file of this name");
    const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == ':'; };
    if (kernel.name.empty() || std::isdigit(static_cast<unsigned char>(kernel.name[0])) != 0 ||
        !std::ranges::all_of(kernel.name, is_of_name))
      report(value.span, fmt::format("can not have the name `{}` in C++", kernel.name));
  }

  /// Words with dots between them.
  static bool is_path_of_names(const std::string& text) {
    bool begins = true;
    for (const char sign : text) {
      const auto one = static_cast<unsigned char>(sign);
      const bool is_letter = std::isalpha(one) != 0 || sign == '_' || one >= 0x80;
      if (begins ? !is_letter : !is_letter && std::isdigit(one) == 0 && sign != '.') return false;
      begins = sign == '.';
    }
    return !begins;
  }

  void check_python_name(const ast::StringLiteral& value) {
    const PythonName name = python_name(value.value, function_.name.text);
    const bool is_file = name.module.ends_with(".py") || name.module.find('/') != std::string::npos;
    if (!is_path_of_names(name.module) || is_file) {
      Diagnostic& diagnostic = report(value.span, fmt::format("can not have the module `{}`", name.module));
      if (is_file) diagnostic.note("a module's name is that of its file without folders and `.py`, as \"model:run\"");
    } else if (!is_path_of_names(name.function)) {
      report(value.span, fmt::format("can not have the name `{}`", name.function));
    }
  }

  void check_r_name(const ast::StringLiteral& value) {
    const NameInFile called = name_in_file(value.value, function_.name.text);
    const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c >= 0x80; };
    const std::string& name = called.name;
    const bool begins_as_number = !name.empty() && std::isdigit(static_cast<unsigned char>(name[name[0] == '.'])) != 0;
    if (called.file.empty() || called.file.contains('\0'))
      report(value.span, "has no file of this name");
    else if (name.empty() || name[0] == '_' || begins_as_number || !std::ranges::all_of(name, is_of_name))
      report(value.span, fmt::format("can not have the name `{}`", name));
  }

  bool is_scalar_or_void(TypeId type) const {
    return context_.store().is_scalar(type) || type == TypeStore::void_ || type == TypeStore::error;
  }

  /// @return whether it is a scalar or void
  bool check_output(const ast::Formal& output, const char* verb) {
    const TypeId type = base(output);
    if (is_dense_of_numbers(type)) {
      if (!has_known_extents(output))
        report(output.span,
               "fills `" + output.name.text + "`, whose extents are to be given: ints, or extents of inputs");
      return false;
    }
    if (is_scalar_or_void(type)) return true;
    Diagnostic& diagnostic = report(output.span, misfit(output, verb));
    if (context_.store().is_array(type))
      diagnostic.note(
          fmt::format("it fills a dense array of known extents, as `{} {}[n]`: n is an int that it "
                      "gets, or an extent of an input, as of `float x[n]`",
                      context_.name(context_.store().at(type).element), output.name.text));
    return false;
  }

  void check_inputs() {
    for (const ast::Formal& input : function_.inputs)
      if (!can_be_passed(base(input))) report(input.span, misfit(input, "take"));
  }

  Diagnostic& report(Span span, std::string_view what) { return context_.diagnostics.report(kind_, span, what); }
  TypeId base(const ast::Formal& formal) const { return context_.store().base(formal.resolved_type); }
  std::string misfit(const ast::Formal& formal, const char* verb) const {
    return std::string("can not ") + verb + " a `" + context_.name(formal.resolved_type) + "`";
  }

  /// Scalars, `void` (only waited for), and arrays whose elements lie side by side.
  bool can_be_passed(TypeId type) const {
    if (is_scalar_or_void(type) || is_dense_of_numbers(type)) return true;
    return context_.store().is_array(type) && is_number(context_.store().at(type).element) &&
           context_.store().base(context_.store().at(type).key) == TypeStore::int_;
  }

  bool is_dense_of_numbers(TypeId type) const {
    return context_.store().is_dense(type) && is_number(context_.store().dense_element(type));
  }

  bool is_number(TypeId type) const { return TypeStore::is_number_or_truth(context_.store().base(type)); }

  static bool has_known_extents(const ast::Formal& formal) {
    const ast::Dimension* const dimension = extents_of(formal.type, formal.dimensions);
    return dimension != nullptr &&
           std::ranges::none_of(dimension->entries, [](const auto& entry) { return is_open(*entry); });
  }

  Context& context_;
  const FunctionDefinition& function_;
  DiagnosticKind kind_ = DiagnosticKind::bad_library;  ///< of what is reported
};

}  // namespace

NameInFile name_in_file(const std::string& value, const std::string& function) {
  const std::size_t slash = value.rfind('/');  // folders may have colons in their names
  const std::size_t colon = value.find(':', slash == std::string::npos ? 0 : slash);
  if (colon == std::string::npos) return {value, function};
  return {value.substr(0, colon), value.substr(colon + 1)};
}

PythonName python_name(const std::string& value, const std::string& function) {
  const std::size_t colon = value.find(':');
  if (colon == std::string::npos) return {value, function};
  return {value.substr(0, colon), value.substr(colon + 1)};
}

void check_foreign(Context& context, const FunctionDefinition& function) {
  if (function.body_kind == ast::BodyKind::tcl) ForeignChecker(context, function).tcl();
  if (function.body_kind == ast::BodyKind::library) {
    if (find_annotation(function.annotations, "python") != nullptr) return ForeignChecker(context, function).python();
    if (find_annotation(function.annotations, "r") != nullptr) return ForeignChecker(context, function).r();
    if (find_annotation(function.annotations, "kernel") != nullptr) return ForeignChecker(context, function).kernel();
    return ForeignChecker(context, function).library();
  }
  for (const ast::Annotation& annotation : function.annotations) {
    const std::string& name = annotation.name.text;
    if (name != "isolate" && name != "library" && name != "kernel" && name != "python" && name != "r") continue;
    const DiagnosticKind kind = name == "kernel"   ? DiagnosticKind::bad_kernel
                                : name == "python" ? DiagnosticKind::bad_python
                                : name == "r"      ? DiagnosticKind::bad_r
                                                   : DiagnosticKind::bad_library;
    context.diagnostics.report(kind, mark_of(annotation),
                               "is declared without a body: `@" + name + "` is for these only");
  }
}

}  // namespace raddle::check_detail
