#include "compiler/check/print_checked.hpp"

#include <fmt/format.h>

#include <iterator>

namespace raddle {
namespace {

const char* role_text(VariableRole role) {
  switch (role) {
    case VariableRole::local: return "local";
    case VariableRole::global: return "global";
    case VariableRole::constant: return "constant";
    case VariableRole::input: return "input";
    case VariableRole::output: return "output";
    case VariableRole::loop: return "loop";
  }
  return "";
}

std::string formals_text(const CheckedProgram& program, const std::vector<ast::VariableId>& formals) {
  std::string text;
  for (const ast::VariableId id : formals) {
    const Variable& variable = program.variables[id];
    text += (text.empty() ? "" : ", ") + program.types.name(variable.type) + " " + variable.name;
  }
  return text;
}

class Printer {
 public:
  Printer(const CheckedProgram& program, const SourceMap& sources) : program_(program), sources_(sources) {}

  std::string print() {
    line("functions");
    for (std::uint32_t index = 0; index < program_.functions.size(); ++index) function(index);
    line("variables");
    for (const Variable& each : program_.variables)
      if (each.is_read || !is_of_every_script(each)) variable(each);
    if (!program_.parameters.empty()) line("parameters");
    for (const ScriptParameter& each : program_.parameters) named(each.variable, each.comment);
    if (!program_.results.empty()) line("results");
    for (const ScriptResult& each : program_.results) named(each.variable, "");
    return std::move(text_);
  }

 private:
  void line(std::string_view title) { text_ += fmt::format("{}\n", title); }

  void function(std::uint32_t index) {
    const CheckedFunction& function = program_.functions[index];
    const bool is_main = program_.main_function == index;
    text_ +=
        fmt::format("  {:>3} {}({}) {}({})  {}{}\n", index, function.is_app ? "app " : "",
                    formals_text(program_, function.outputs), function.name, formals_text(program_, function.inputs),
                    sources_.describe(function.definition->name.span), is_main ? "  main" : "");
  }

  /// Of the module that nobody has to import.
  bool is_of_every_script(const Variable& variable) const {
    return sources_.at(variable.span.file).is_library_module("builtins");
  }

  void variable(const Variable& variable) {
    text_ += fmt::format("  {:8} {:16} {:16} {}{}{}\n", role_text(variable.role), program_.types.name(variable.type),
                         variable.name, sources_.describe(variable.span),
                         variable.written_by_element ? "  by element" : "", variable.is_read ? "" : "  never read");
  }

  void named(ast::VariableId id, std::string_view comment) {
    const Variable& variable = program_.variables[id];
    text_ += fmt::format("  {:16} {:16} {}\n", program_.types.name(variable.type), variable.name, comment);
  }

  const CheckedProgram& program_;
  const SourceMap& sources_;
  std::string text_;
};

}  // namespace

std::string print_checked(const CheckedProgram& program, const SourceMap& sources) {
  return Printer(program, sources).print();
}

}  // namespace raddle
