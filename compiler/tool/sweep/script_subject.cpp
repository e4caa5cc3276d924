#include "compiler/tool/sweep/script_subject.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "compiler/tool/command/usage_error.hpp"
#include "compiler/tool/command/version.hpp"
#include "compiler/tool/executable/script_arguments.hpp"
#include "compiler/tool/sweep/sweep_request.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/lower/point_loop.hpp"
#include "compiler/source/kernel_sources.hpp"
#include "compiler/source/python_module.hpp"
#include "compiler/source/read_file.hpp"
#include "compiler/source/string_literal.hpp"
#include "vm/record/file_version.hpp"
#include "vm/value/text.hpp"

namespace raddle::tool {

namespace {

constexpr std::string_view seed_names[] = {"rep", "seed"};  // made by --repeats, whether the script wants them or not

std::vector<std::string> parameter_names(const CheckedProgram& program) {
  std::vector<std::string> names;
  for (const ScriptParameter& parameter : program.parameters)
    names.push_back(program.variables[parameter.variable].name);
  return names;
}

/// The word of the command line that gave a parameter of the space.
sweep::OptionError error_at(const sweep::SpaceOptions& words, const std::string& name, const std::string& part,
                            std::string message, std::string help) {
  for (const std::string& word : words.parameters) {
    if (!word.starts_with(name) || word.find_first_of("=~") != name.size()) continue;
    const std::size_t found = part == name ? 0 : word.find(part, name.size() + 1);
    const bool is_there = found != std::string::npos;
    return {"-p",
            word,
            {std::move(message), is_there ? found : name.size() + 1, is_there ? found + part.size() : word.size(),
             std::move(help)}};
  }
  return {"--from", words.table, {std::move(message), 0, words.table.size(), std::move(help)}};
}

bool is_drawn(const sweep::SpaceOptions& words, const std::string& name) {
  return std::ranges::any_of(words.parameters, [&](const std::string& word) { return word.starts_with(name + "~"); });
}

/// A value of the parameter that can not be read as `type`.
std::optional<std::string> unfit_value(const sweep::Space& space, std::size_t parameter, TypeId type) {
  using sweep::ValueType;
  const ValueType values = space.parameters()[parameter].type;
  if (type == TypeStore::string || (type == TypeStore::float_ && values != ValueType::string)) return std::nullopt;
  if (type == TypeStore::int_ && values == ValueType::int_) return std::nullopt;
  for (std::uint64_t index = 0; index < space.value_count(parameter); ++index)
    if (std::string text = space.value(parameter, index); !read_value(type, text)) return text;
  return std::nullopt;
}

bool is_made_by_repeats(const sweep::Space& space, const std::string& name) {
  return space.has_repeats() && std::ranges::find(seed_names, name) != std::end(seed_names);
}

bool is_launched(const ir::Function& loop) {
  for (const ir::Op& op : loop.regions[0].ops)
    if (op.kind == ir::OpKind::foreach_range) return op.launch != ir::none && !loop.launches[op.launch].is_projected();
  return false;
}

/// Braces are placeholders in a command of a sweep.
std::string without_placeholders(const std::string& word) {
  std::string text;
  for (const char sign : word) {
    if (sign == '{' || sign == '}') text += sign;
    text += sign;
  }
  return text;
}

/// Shared libraries whose functions it has, but for those of the system, the files of AppKernels, functions in R and
/// modules in Python; sorted.
std::set<std::string> libraries_of(const vm::Program& program) {
  std::set<std::string> paths;
  for (const vm::ForeignFunction& function : program.foreigns) {
    const bool is_library =
        function.kind == vm::ForeignKind::library || function.kind == vm::ForeignKind::isolated_library;
    if (function.kind == vm::ForeignKind::app_kernel)
      if (const auto files = kernel_sources(function.library))
        for (const SourceFile& file : *files) paths.insert(file.path);
    if (function.kind == vm::ForeignKind::python)
      if (auto file = python_module_file(function.version, function.library)) paths.insert(std::move(*file));
    if (function.kind == vm::ForeignKind::r) paths.insert(function.library);
    if (is_library && function.library.find('/') != std::string::npos) paths.insert(function.library);
  }
  return paths;
}

}  // namespace

std::expected<std::unique_ptr<ScriptSubject>, int> ScriptSubject::make(const std::string& path, const Options& options,
                                                                       const sweep::Space& space,
                                                                       const sweep::SpaceOptions& words) {
  std::unique_ptr<ScriptSubject> subject(new ScriptSubject(path));
  subject->session_.options = options;
  subject->session_.colour = wants_colour(STDERR_FILENO);
  const int code = subject->compile(space, words);
  if (code != exit_ok) return std::unexpected(code);
  return subject;
}

int ScriptSubject::compile(const sweep::Space& space, const sweep::SpaceOptions& words) {
  std::string text, reason;
  if (!read_file(path_, text, reason)) return usage_error(fmt::format("can not read `{}`: {}", path_, reason), "sweep");
  const std::uint32_t file = session_.sources.add(path_, std::move(text));
  ir::FunctionId loop = ir::none, entry = ir::none;
  std::optional<sweep::OptionError> unfit;
  std::optional<std::pair<std::string, Span>> printing;
  const auto prepare = [&](const CheckedProgram& program, ir::Module& module) {
    unfit = match(program, space, words);
    uses_seed_ = calls_builtin(module, stdlib::BuiltinEffect::draws);
    printing = printing_call(module);
    entry = module.entry;
    std::vector<bool> varies;
    for (const auto& source : sources_of_) varies.push_back(source.has_value());
    if (!unfit) loop = add_point_loop(module, varies, uses_seed_);
    if (loop != ir::none) module.entry = loop;
  };
  std::optional<Compilation> compilation = tool::compile(session_, file, {.prepare = prepare});
  if (!compilation) return session_.print_diagnostics(), exit_compile_error;
  if (unfit) return option_error(*unfit);
  executable_.emplace(std::move(*compilation), session_.options, entry);
  const ir::Module& module = executable_->module();
  if (loop == ir::none)
    why_not_in_blocks_ = "it has no `@result`, or a parameter or a result is no number";
  else if (is_launched(module.functions[loop]))
    block_program_ = emit_program(module);
  else if (printing)
    why_not_in_blocks_ = fmt::format("`{}` prints, {}: a value that is marked `@result` is told without it",
                                     printing->first, session_.sources.describe(printing->second));
  else if (const auto& found = module.functions[loop].not_launched; !found.empty())
    why_not_in_blocks_ = fmt::format("{} can be no part of a kernel: {}",
                                     session_.sources.describe(found.back().obstacle), found.back().why);
  else
    why_not_in_blocks_ = "it does more than compute numbers";
  call_record_.emplace(version, session_.options.takes_kept_calls);
  return exit_ok;
}

/// Finds where the script's parameters get their values from. @return what of the space does not fit
std::optional<sweep::OptionError> ScriptSubject::match(const CheckedProgram& program, const sweep::Space& space,
                                                       const sweep::SpaceOptions& words) {
  const std::vector<std::string> names = parameter_names(program);
  sources_of_.assign(names.size(), std::nullopt);
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const std::string& name = space.parameters()[i].name;
    const auto found = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (found < names.size()) {
      sources_of_[found] = i;
      const TypeId type = program.types.base(program.variables[program.parameters[found].variable].type);
      if (is_made_by_repeats(space, name)) {
        if (type == TypeStore::boolean || type == TypeStore::string)
          return error_at(words, name, name, fmt::format("`{}` of the script is no number", name), "");
      } else if (const std::optional<std::string> text = unfit_value(space, i, type)) {
        return error_at(words, name, *text, fault_of_value(program.types, type, *text),
                        fmt::format("the script declares `{}` as {}{}", name, program.types.name(type),
                                    is_drawn(words, name) ? "; intU(LOW,HIGH) draws whole numbers" : ""));
      } else if (const auto lost = type == TypeStore::float_ ? space.lost_in_floats(i) : std::nullopt) {
        return error_at(
            words, name, *lost,
            fmt::format("`{}` would be rounded: floats are farther apart there than the values of the range", *lost),
            lost->contains('.') ? "" : fmt::format("`@param int {}` takes whole numbers up to 2^63-1", name));
      }
    } else if (!is_made_by_repeats(space, name)) {
      const std::string nearest = nearest_name(name, names);
      const std::string help = names.empty() ? fmt::format("`@param float {} = 1.0;` declares one", name)
                                             : fmt::format("its parameters are {}", fmt::join(names, ", "));
      return error_at(words, name, name, fmt::format("the script has no parameter `{}`", name),
                      nearest.empty() ? help : fmt::format("did you mean `{}`?", nearest));
    }
  }
  return std::nullopt;
}

std::vector<std::string> ScriptSubject::command() const {
  std::vector<std::string> words = {"raddle", "run"};
  for (const std::string& folder : session_.options.include_folders) {
    words.emplace_back("-I");
    words.push_back(without_placeholders(folder));
  }
  for (const std::string& macro : session_.options.macros) {
    words.emplace_back("-D");
    words.push_back(without_placeholders(macro));
  }
  if (uses_seed_) words.emplace_back(fmt::format("--seed={{{}}}", sweep::CommandTemplate::run_seed));
  words.push_back(without_placeholders(path_));
  const std::vector<std::string> names = parameter_names(checked());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (sources_of_[i]) words.push_back(fmt::format("--{0}={{{0}}}", names[i]));
  return words;
}

std::vector<std::string> ScriptSubject::work() const {
  std::vector<std::string> parts = {"a script"};
  for (std::uint32_t i = 0; i < session_.sources.size(); ++i) parts.push_back(session_.sources.at(i).text());
  parts.insert(parts.end(), session_.options.macros.begin(), session_.options.macros.end());
  vm::KeptFiles files;
  for (const std::string& path : libraries_of(program())) {
    parts.push_back(path);
    parts.push_back(vm::file_version(files, path));
  }
  return parts;
}

std::vector<sweep::ValueType> ScriptSubject::read_as(const sweep::Space& space) const {
  std::vector<sweep::ValueType> types(space.parameters().size(), sweep::ValueType::string);
  for (std::size_t i = 0; i < sources_of_.size(); ++i) {
    if (!sources_of_[i]) continue;
    if (type_of(i) == TypeStore::int_) types[*sources_of_[i]] = sweep::ValueType::int_;
    if (type_of(i) == TypeStore::float_) types[*sources_of_[i]] = sweep::ValueType::float_;
  }
  return types;
}

std::vector<FixedParameter> ScriptSubject::fixed_parameters() const {
  std::vector<FixedParameter> fixed;
  for (std::size_t i = 0; i < sources_of_.size(); ++i) {
    if (sources_of_[i]) continue;
    const vm::Value value = default_value(checked(), checked().parameters[i]);
    const std::string text = vm::result_text(value);
    const std::string& name = checked().variables[checked().parameters[i].variable].name;
    const bool is_text = value.kind() == vm::ValueKind::string;
    fixed.push_back({name, fmt::format("{} {} = {};", checked().types.name(type_of(i)), name,
                                       is_text ? string_literal(text) : text)});
  }
  return fixed;
}

std::vector<std::string> ScriptSubject::result_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < checked().results.size(); ++i) names.push_back(result_name(i));
  return names;
}

std::vector<std::string> ScriptSubject::names_of_strings() const {
  std::vector<std::string> names;
  const auto add = [&](const auto& declared) {
    for (const auto& each : declared) {
      const Variable& variable = checked().variables[each.variable];
      if (checked().types.base(variable.type) == TypeStore::string) names.push_back(variable.name);
    }
  };
  add(checked().parameters);
  add(checked().results);
  return names;
}

std::vector<sweep::ResultColumn> ScriptSubject::columns() const {
  std::vector<sweep::ResultColumn> columns;
  if (!runs_in_blocks()) return columns;
  for (std::size_t i = 0; i < checked().results.size(); ++i) {
    const TypeId type = checked().types.base(checked().variables[checked().results[i].variable].type);
    columns.push_back({result_name(i), type == TypeStore::float_ ? sweep::ResultType::float_
                                       : type == TypeStore::int_ ? sweep::ResultType::int_
                                                                 : sweep::ResultType::boolean});
  }
  return columns;
}

TypeId ScriptSubject::type_of(std::size_t parameter) const {
  return checked().types.base(checked().variables[checked().parameters[parameter].variable].type);
}

const std::string& ScriptSubject::result_name(std::size_t result) const {
  return checked().variables[checked().results[result].variable].name;
}

}  // namespace raddle::tool
