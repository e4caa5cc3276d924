#include "compiler/driver/script_arguments.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "compiler/diagnostics/diagnostics.hpp"
#include "vm/value/text.hpp"

namespace raddle::driver {

namespace {

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<vm::Value> read_value(TypeId type, const std::string& text) {
  if (type == TypeStore::string) return vm::Value::of(text);
  if (type == TypeStore::int_) {
    if (const auto number = whole_number<std::int64_t>(text)) return vm::Value::of(*number);
  } else if (type == TypeStore::float_) {
    if (const auto number = whole_number<double>(text)) return vm::Value::of(*number);
  } else if (type == TypeStore::boolean) {
    if (text == "true" || text == "1" || text == "yes" || text == "on") return vm::Value::of(true);
    if (text == "false" || text == "0" || text == "no" || text == "off") return vm::Value::of(false);
  }
  return std::nullopt;
}

/// A default is a literal, perhaps negated, perhaps widened: check has made sure of it.
vm::Value literal_value(const ast::Expr& expr, TypeId type) {
  using ast::ExprKind;
  if (expr.kind == ExprKind::Unary) {
    const vm::Value value = literal_value(*ast::as<ast::Unary>(expr).operand, type);
    return value.kind() == vm::ValueKind::float_ ? vm::Value::of(-value.as_float()) : vm::Value::of(-value.as_int());
  }
  if (expr.kind == ExprKind::IntLiteral) {
    const std::int64_t value = ast::as<ast::IntLiteral>(expr).value;
    return type == TypeStore::float_ ? vm::Value::of(static_cast<double>(value)) : vm::Value::of(value);
  }
  if (expr.kind == ExprKind::FloatLiteral) return vm::Value::of(ast::as<ast::FloatLiteral>(expr).value);
  if (expr.kind == ExprKind::StringLiteral) return vm::Value::of(ast::as<ast::StringLiteral>(expr).value);
  return vm::Value::of(ast::as<ast::BoolLiteral>(expr).value);
}

}  // namespace

std::expected<ScriptArguments, std::string> read_arguments(const CheckedProgram& program,
                                                           const std::vector<std::string>& arguments) {
  ScriptArguments read;
  std::vector<vm::Value>& values = read.parameters;
  std::vector<std::string> names;
  for (const ScriptParameter& parameter : program.parameters) {
    const Variable& variable = program.variables[parameter.variable];
    names.push_back(variable.name);
    values.push_back(literal_value(*parameter.default_value, program.types.base(variable.type)));
  }
  if (names.empty()) {
    read.rest = arguments;
    return read;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      read.rest.insert(read.rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (!argument.starts_with("--")) {
      read.rest.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::size_t index = 0;
    while (index < names.size() && names[index] != name) ++index;
    if (index == names.size()) {
      const std::string nearest = nearest_name(name, names);
      return std::unexpected(fmt::format("the script has no parameter `{}`{}", name,
                                         nearest.empty() ? "" : fmt::format("; did you mean `--{}`?", nearest)));
    }
    const TypeId type = program.types.base(program.variables[program.parameters[index].variable].type);
    std::string text;
    if (equals != std::string::npos) {
      text = argument.substr(equals + 1);
    } else if (type == TypeStore::boolean && (i + 1 == arguments.size() || arguments[i + 1].starts_with("--"))) {
      text = "true";
    } else if (i + 1 < arguments.size()) {
      text = arguments[++i];
    } else {
      return std::unexpected(fmt::format("`--{}` needs a value of type {}", name, program.types.name(type)));
    }
    const std::optional<vm::Value> value = read_value(type, text);
    if (!value) return std::unexpected(fmt::format("`--{}`: `{}` is no {}", name, text, program.types.name(type)));
    values[index] = *value;
  }
  return read;
}

std::string describe_parameters(const CheckedProgram& program, const std::string& script) {
  std::string text = fmt::format("usage: raddle run {} [--PARAMETER=VALUE ..]\n", script);
  if (program.parameters.empty()) return text + "\nThe script declares no parameters.\n";
  text += "\nparameters:\n";
  for (const ScriptParameter& parameter : program.parameters) {
    const Variable& variable = program.variables[parameter.variable];
    const vm::Value value = literal_value(*parameter.default_value, program.types.base(variable.type));
    const std::string head =
        fmt::format("  --{}={}", variable.name,
                    variable.type == TypeStore::boolean ? (value.as_bool() ? "true" : "false") : vm::to_text(value));
    text += fmt::format("{:<28} {}{}{}\n", head, program.types.name(variable.type),
                        parameter.comment.empty() ? "" : "  ", parameter.comment);
  }
  return text;
}

}  // namespace raddle::driver
