#include "compiler/tool/executable/script_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/command/words.hpp"
#include "stdlib/builtins.hpp"
#include "vm/value/text.hpp"

namespace raddle::tool {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// `12`, `-5`
bool is_digits(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A default is a literal, perhaps negated, perhaps widened: check has made sure of it.
vm::Value literal_value(const ast::Expr& expr, TypeId type) {
  using ast::ExprKind;
  if (TypeStore::is_narrow(type)) {
    const vm::Value value = literal_value(expr, TypeStore::wide(type));
    return type == TypeStore::int32 ? vm::Value::of_int32(static_cast<std::int32_t>(value.as_int()))
                                    : vm::Value::of_float32(static_cast<float>(value.as_float()));
  }
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

std::optional<vm::Value> read_value(TypeId type, const std::string& text) {
  if (type == TypeStore::string) return vm::Value::of(text);
  if (type == TypeStore::int_) {
    if (const auto number = whole_number(text)) return vm::Value::of(*number);
  } else if (type == TypeStore::float_) {
    if (const auto number = vm::float_of_text(text)) return vm::Value::of(*number);
  } else if (type == TypeStore::int32) {
    if (const auto number = whole_number(text); number && std::in_range<std::int32_t>(*number))
      return vm::Value::of_int32(static_cast<std::int32_t>(*number));
  } else if (type == TypeStore::float32) {
    if (const auto number = vm::float32_of_text(text)) return vm::Value::of_float32(*number);
  } else if (type == TypeStore::boolean) {
    if (text == "true" || text == "1" || text == "yes" || text == "on") return vm::Value::of(true);
    if (text == "false" || text == "0" || text == "no" || text == "off") return vm::Value::of(false);
  }
  return std::nullopt;
}

std::string fault_of_value(const TypeStore& types, TypeId type, const std::string& text) {
  if (type == TypeStore::int_ && is_digits(text))
    return fmt::format("`{}` is beyond what an int can be, -2^63 to 2^63-1", text);
  if (type == TypeStore::float_ && vm::is_beyond_floats(text))
    return fmt::format("`{}` is beyond what a float can be, -1.8e308 to 1.8e308", text);
  if (type == TypeStore::int32 && is_digits(text))
    return fmt::format("`{}` is beyond what an int32 can be, -2147483648 to 2147483647", text);
  if (type == TypeStore::float32 && (vm::is_beyond_floats(text) || vm::float_of_text(text)))
    return fmt::format("`{}` is beyond what a float32 can be, -3.4e38 to 3.4e38", text);
  return fmt::format("`{}` is no {}", text, types.name(type));
}

vm::Value default_value(const CheckedProgram& program, const ScriptParameter& parameter) {
  return literal_value(*parameter.default_value, program.types.base(program.variables[parameter.variable].type));
}

namespace {

/// Cuts the command line into values of parameters and other words.
class ArgumentReader {
 public:
  explicit ArgumentReader(const ArgumentRules& rules) : rules_(rules) {
    for (const ScriptParameter& parameter : rules.program.parameters) {
      names_.push_back(rules.program.variables[parameter.variable].name);
      given_.emplace_back();
      read_.parameters.push_back(default_value(rules.program, parameter));
    }
  }

  std::expected<ScriptArguments, std::string> run(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size() && error_.empty(); ++i) {
      const std::string& word = arguments[i];
      if (word == "--" && !names_.empty()) {
        read_.rest.insert(read_.rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
        break;
      }
      const std::string name = word.starts_with("--") ? word.substr(2, word.find('=') - 2) : "";
      const auto parameter = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
      if (parameter < names_.size())
        i += take(parameter, word, i + 1 < arguments.size() ? &arguments[i + 1] : nullptr);
      else if (is_read_by_argv(name, word) && i + 1 < arguments.size() && !arguments[i + 1].starts_with("-"))
        read_.rest.push_back(word + "=" + arguments[++i]);
      else
        other(word, name, i + 1 < arguments.size() && !arguments[i + 1].starts_with("-") ? &arguments[i + 1] : nullptr);
    }
    if (!error_.empty()) return std::unexpected(error_);
    if (!rules_.reads_words && !read_.rest.empty() && rules_.warns)
      warn(fmt::format("the script reads no {}arguments: `{}` {} no effect{}", names_.empty() ? "" : "other ",
                       fmt::join(read_.rest, "`, `"), read_.rest.size() == 1 ? "has" : "have", hint_));
    return std::move(read_);
  }

 private:
  /// @return how many words behind `word` were used
  std::size_t take(std::size_t parameter, const std::string& word, const std::string* next) {
    const CheckedProgram& program = rules_.program;
    const TypeId type = program.types.base(program.variables[program.parameters[parameter].variable].type);
    const std::size_t equals = word.find('=');
    std::string text = "true";
    std::size_t used = 0;
    if (equals != std::string::npos) {
      text = word.substr(equals + 1);
    } else if (type != TypeStore::boolean || (next != nullptr && !next->starts_with("--"))) {
      if (next == nullptr) {
        error_ = fmt::format("`--{}` needs a value of type {}", names_[parameter], program.types.name(type));
        return 0;
      }
      if (names_parameter(*next)) {
        error_ = fmt::format(
            "`--{0}` needs a value of type {1}, but `{2}` follows, which sets another parameter\n"
            "  = help: `--{0}={2}` if that is meant as the value",
            names_[parameter], program.types.name(type), *next);
        return 0;
      }
      text = *next;
      used = 1;
    }
    const std::optional<vm::Value> value = read_value(type, text);
    std::optional<std::string>& given = given_[parameter];
    if (given)
      error_ = fmt::format("`--{}` is given twice, as `{}` and as `{}`", names_[parameter], *given, text);
    else if (value)
      read_.parameters[parameter] = *value;
    else
      error_ = fmt::format("`--{}`: {}", names_[parameter], fault_of_value(program.types, type, text));
    given = text;
    return used;
  }

  /// `--name` alone: the word behind it is its value, as that of a parameter is.
  bool is_read_by_argv(const std::string& name, const std::string& word) const {
    const std::vector<std::string>& names = rules_.program.arguments_read;
    return word.find('=') == std::string::npos && std::ranges::find(names, name) != names.end();
  }

  bool names_parameter(const std::string& word) const {
    return word.starts_with("--") && std::ranges::find(names_, word.substr(2, word.find('=') - 2)) != names_.end();
  }

  /// A word that is no parameter. @param next  a word without dashes that follows, perhaps its value, or null
  void other(const std::string& word, const std::string& name, const std::string* next) {
    read_.rest.push_back(word);
    if (rules_.reads_words || !word.starts_with("-")) return;
    const bool has_number = word.size() > 2 && word[1] != '-' && is_digits(word.substr(2));  // as in -j4
    const std::string option = has_number ? word.substr(0, 2) : word.substr(0, word.find('='));
    if (option == "-p" && next != nullptr && next->find('=') != std::string::npos) {
      error_ = fmt::format(
          "`-p {}`: a parameter is set by `raddle run {} --{}`; -p NAME=VALUES is an option of `raddle "
          "sweep`",
          *next, rules_.script, *next);
    } else if (std::ranges::find(rules_.tool_options, option) != rules_.tool_options.end()) {
      error_ = fmt::format(
          "`{}` stands behind the script, but the script reads no such option, and those of raddle stand before it: "
          "type "
          "`raddle run {}{} {}`",
          word, word, option == word && next != nullptr ? " .." : "", rules_.script);
    } else if (!names_.empty() && word != "-" && !is_digits(word)) {
      const std::string given = name.empty() ? option.substr(1) : name;
      const bool has_it = std::ranges::find(names_, given) != names_.end();  // but for a dash
      const std::string nearest = has_it ? given : nearest_name(given, names_);
      error_ = fmt::format("the script has no parameter `{}`{}", name.empty() ? option : name,
                           nearest.empty() ? hint_of_owner(option) : fmt::format("; did you mean `--{}`?", nearest));
    } else if (hint_.empty() && option.starts_with("--")) {
      hint_ = hint_of_owner(option);
    }
  }

  /// Of an option of another verb, or one that is misspelled.
  std::string hint_of_owner(const std::string& option) const {
    const std::string owner = verb_with(option);
    if (owner.empty()) {
      std::vector<std::string> known = rules_.tool_options;
      known.emplace_back("--jobs");  // of sweeps, which many mean
      const std::string nearest = nearest_name(option, known);
      if (nearest == "--jobs") return "; did you mean `--workers`? Options of raddle stand before the script";
      return nearest.empty() ? ""
                             : fmt::format("; did you mean `{}`? Options of raddle stand before the script", nearest);
    }
    return fmt::format("; `{}` is an option of `raddle {}`{}", option, owner,
                       option == "--jobs" ? ", as `--workers` is of `raddle run`" : "");
  }

  const ArgumentRules& rules_;
  std::vector<std::string> names_;
  std::vector<std::optional<std::string>> given_;  ///< by parameter, as on the command line
  ScriptArguments read_;
  std::string hint_;  ///< to the warning of words that nothing reads
  std::string error_;
};

}  // namespace

namespace {

template <typename Condition>
bool has_builtin_call(const ir::Module& module, const Condition& holds) {
  for (const ir::Function& function : module.functions)
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == ir::OpKind::call_builtin && holds(op, stdlib::builtins()[op.callee])) return true;
  return false;
}

/// `argp(0)`
bool reads_own_path(const ir::Module& module, const ir::Op& op, const stdlib::Builtin& builtin) {
  if (std::string_view(builtin.name) != "argp" || !op.operands.front().is_constant) return false;
  return module.constants[op.operands.front().index] == ir::Constant(std::int64_t{0});
}

}  // namespace

bool calls_builtin(const ir::Module& module, stdlib::BuiltinEffect effect) {
  return has_builtin_call(module,
                          [&](const ir::Op&, const stdlib::Builtin& builtin) { return builtin.effect == effect; });
}

std::optional<std::pair<std::string, Span>> printing_call(const ir::Module& module) {
  std::optional<std::pair<std::string, Span>> first;
  has_builtin_call(module, [&](const ir::Op& op, const stdlib::Builtin& builtin) {
    const bool prints =
        builtin.effect == stdlib::BuiltinEffect::prints || builtin.effect == stdlib::BuiltinEffect::waits_and_prints;
    const bool is_earlier =
        !first || std::pair(op.span.file, op.span.begin) < std::pair(first->second.file, first->second.begin);
    if (prints && is_earlier) first.emplace(builtin.name, op.span);
    return false;
  });
  return first;
}

bool reads_words(const ir::Module& module) {
  return has_builtin_call(module, [&](const ir::Op& op, const stdlib::Builtin& builtin) {
    return builtin.effect == stdlib::BuiltinEffect::reads_words && !reads_own_path(module, op, builtin);
  });
}

std::expected<ScriptArguments, std::string> read_arguments(const ArgumentRules& rules,
                                                           const std::vector<std::string>& arguments) {
  return ArgumentReader(rules).run(arguments);
}

std::string describe_parameters(const CheckedProgram& program, const std::string& script) {
  constexpr std::size_t widest_default = 48;
  if (program.parameters.empty())
    return fmt::format("usage: raddle run {}\n\nThe script declares no parameters.\n", script);
  std::string text = fmt::format("usage: raddle run {} [--PARAMETER=VALUE ..]\n\nparameters:\n", script);
  std::vector<std::string> heads;
  std::size_t width = 0;
  for (const ScriptParameter& parameter : program.parameters) {
    const Variable& variable = program.variables[parameter.variable];
    const vm::Value value = default_value(program, parameter);
    heads.push_back(fmt::format("  --{}={}", variable.name, vm::result_text(value)));
    width = std::clamp(heads.back().size(), width, widest_default);
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const ScriptParameter& parameter = program.parameters[i];
    const std::string type = program.types.name(program.variables[parameter.variable].type);
    text += fmt::format("{:<{}}  {:<8} ", heads[i], width, type);
    for (const char c : parameter.comment) {
      text += c;
      if (c == '\n') text.append(width + 11, ' ');
    }
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  return text;
}

}  // namespace raddle::tool
