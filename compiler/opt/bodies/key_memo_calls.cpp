#include "compiler/opt/bodies/key_memo_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/print.hpp"
#include "compiler/ir/written_name.hpp"
#include "compiler/source/kernel_sources.hpp"
#include "compiler/source/python_module.hpp"
#include "compiler/source/read_file.hpp"
#include "stdlib/builtins.hpp"
#include "vm/value/hash.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// `first` and all that it may call, each once.
std::vector<ir::FunctionId> reached(const ir::Module& module, ir::FunctionId first) {
  std::vector<ir::FunctionId> found = {first};
  std::unordered_set<ir::FunctionId> known = {first};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const ir::Region& region : module.functions[found[i]].regions)
      for (const ir::Op& op : region.ops)
        if ((op.kind == OpKind::call || op.kind == OpKind::call_app) && known.insert(op.callee).second)
          found.push_back(op.callee);
  return found;
}

/// Types by what they are: the text of the IR names them, and a name may get another meaning.
class TypeTexts {
 public:
  TypeTexts(std::string& text, const TypeStore& types) : text_(text), types_(types) {}

  void append(TypeId type) {
    const TypeId base = types_.base(type);
    const TypeKind kind = types_.kind(base);
    text_ += std::to_string(static_cast<unsigned>(kind)) + " ";
    if (kind == TypeKind::array) append(types_.at(base).key);
    if (kind == TypeKind::array || kind == TypeKind::bag) append(types_.at(base).element);
    if (kind != TypeKind::structure) return;
    // each once: of structures of structures the text would grow without end
    const auto [known, is_new] = numbers_.try_emplace(base, numbers_.size());
    text_ += std::to_string(known->second) + " ";
    if (!is_new) return;
    for (const StructType::Field& field : types_.structure(base).fields) {
      text_ += field.name + " ";
      append(field.type);
    }
  }

 private:
  std::string& text_;
  const TypeStore& types_;
  std::map<TypeId, std::size_t> numbers_;  ///< of structures, in the order in which they are met
};

void drop_limits(ir::Function& app) {
  for (const ir::Operand& limit : app.command.limits)
    if (limit.index != ir::none && !limit.is_constant) std::erase(app.parameters, limit.index);
  app.command.limits = {};
}

/// The code that is named in the key is not that of the memo operations in it: those are filled in one after the other.
std::string code_text(const ir::Module& module, ir::FunctionId id) {
  ir::Function function = module.functions[id];
  function.name = ir::written_name(function);
  drop_limits(function);
  for (ir::Region& region : function.regions)
    for (ir::Op& op : region.ops)
      if (op.kind == OpKind::memo) op.operands.resize(1);
  std::string text = ir::print(module, function, ir::Positions::omit);
  TypeTexts types(text, *module.types);
  for (const ir::VarId parameter : function.parameters) types.append(function.variables[parameter].type);
  for (const ir::VarId output : function.outputs) types.append(function.variables[output].type);
  for (const ir::Region& region : function.regions)
    for (const ir::VarId variable : region.variables) types.append(function.variables[variable].type);
  return text;
}

/// What a shared library has in it that is no library of the system's, or the files of an AppKernel, or that of a
/// function in R, or of a module in Python; "" if they can not be read: calls fail.
std::string library_text(const ir::Function& function) {
  const bool is_library =
      function.kind == ir::FunctionKind::foreign &&
      (function.foreign.kind == ir::ForeignKind::library || function.foreign.kind == ir::ForeignKind::isolated_library);
  std::string text, error;
  if (function.kind == ir::FunctionKind::foreign && function.foreign.kind == ir::ForeignKind::app_kernel)
    if (const auto files = kernel_sources(function.foreign.library))
      for (const SourceFile& file : *files) text += file.text;
  if (function.kind == ir::FunctionKind::foreign && function.foreign.kind == ir::ForeignKind::python)
    if (const auto file = python_module_file(function.foreign.version, function.foreign.library))
      read_file(*file, text, error);
  if (function.kind == ir::FunctionKind::foreign && function.foreign.kind == ir::ForeignKind::r)
    read_file(function.foreign.library, text, error);
  if (is_library && function.foreign.library.find('/') != std::string::npos)
    read_file(function.foreign.library, text, error);
  return text;
}

/// By function: what is called by many is printed once.
using CodeHashes = std::unordered_map<ir::FunctionId, vm::Hash128>;

std::string code_of(const ir::Module& module, const std::vector<ir::FunctionId>& functions, CodeHashes& hashes) {
  std::string code;
  for (const ir::FunctionId id : functions) {
    auto known = hashes.find(id);
    if (known == hashes.end())
      known = hashes.emplace(id, vm::hash(code_text(module, id) + library_text(module.functions[id]))).first;
    const vm::Hash128 hash = known->second;
    code += fmt::format("{} {:016x}{:016x}\n", ir::written_name(module.functions[id]), hash.high, hash.low);
  }
  return code;
}

// ---- what a function does besides

struct Warning {
  std::string_view what;
  std::string_view help;
};

constexpr Warning is_not_called = {"is not called when the result is taken from the record", ""};
constexpr Warning is_not_checked = {"is not checked again when the result is taken from the record", ""};
constexpr Warning is_no_input = {"may give another value next time, and the first result is kept",
                                 "give what it returns to the function as an input"};
constexpr Warning is_not_looked_into = {
    "runs code of which only the text is known: the result is kept though a module or "
    "file that it uses changes",
    "let the function read its files as inputs, by `read`, or run a program file "
    "by an app: these are known by what is in them"};

/// What `system` and `launch` run is known as what an app runs.
bool knows_files(const stdlib::Builtin& builtin) {
  return builtin.name == "sleep" || builtin.name == "system" || builtin.module == "launch";
}

const Warning* warning_of(const stdlib::Builtin& builtin) {
  using enum stdlib::BuiltinEffect;
  switch (builtin.effect) {
    case prints:
    case waits_and_prints: return &is_not_called;
    case asserts:  // what the compiler and the library check has been right of what is taken
      return builtin.name.starts_with('@') || builtin.name.ends_with('_') ? nullptr : &is_not_checked;
    case reads_words: return stdlib::signature_of(builtin).gives_nothing() ? &is_not_checked : &is_no_input;
    case draws:
    case asks: return &is_no_input;
    case waits: return knows_files(builtin) ? nullptr : &is_not_looked_into;
    case looks:
    case pure:
    case reduces:
    case deviates:
    case acts: return nullptr;
  }
  return nullptr;
}

/// Of a package only the name is known, and of code what it is, not what it reads or runs.
bool reaches_other_code(const ir::Foreign& foreign) {
  if (foreign.kind == ir::ForeignKind::python || foreign.kind == ir::ForeignKind::r) return true;
  const bool is_tcl = foreign.kind == ir::ForeignKind::tcl_template || foreign.kind == ir::ForeignKind::tcl_procedure;
  constexpr std::array commands = {"source", "open", "exec", "load", "package", "glob", "file"};
  return is_tcl && (foreign.library != "turbine" || std::ranges::any_of(commands, [&](const char* command) {
                      return foreign.code.find(command) != std::string::npos;
                    }));
}

/// Warns of the first one that is found.
void check_effects(const ir::Module& module, const ir::Op& memo, const std::vector<ir::FunctionId>& functions,
                   Diagnostics& diagnostics) {
  const std::string& name = std::get<std::string>(module.constants[memo.operands[0].index]);
  const auto warn = [&](std::string_view called, const Warning& warning, Span span) {
    Diagnostic& diagnostic =
        diagnostics.report(DiagnosticKind::memo_effect, memo.span, name, fmt::format("`{}` {}", called, warning.what));
    diagnostic.label(span, "here");
    if (!warning.help.empty()) diagnostic.note(std::string(warning.help));
  };
  for (const ir::FunctionId id : functions) {
    const ir::Function& function = module.functions[id];
    if (function.kind == ir::FunctionKind::foreign && reaches_other_code(function.foreign))
      return warn(ir::written_name(function), is_not_looked_into, function.span);
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops) {
        if (op.kind != OpKind::call_builtin) continue;
        const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
        if (const Warning* const warning = warning_of(builtin)) return warn(builtin.name, *warning, op.span);
      }
  }
}

}  // namespace

void key_memo_calls(ir::Module& module, Diagnostics& diagnostics) {
  CodeHashes hashes;
  for (ir::Function& function : module.functions) {
    for (ir::Region& region : function.regions) {
      for (ir::Op& op : region.ops) {
        if (op.kind != OpKind::memo) continue;
        const ir::FunctionId body = function.regions[op.regions[0]].ops[0].callee;
        const std::vector<ir::FunctionId> functions = reached(module, body);
        op.operands[1] = ir::Operand::constant(module.constant(code_of(module, functions, hashes)));
        check_effects(module, op, functions, diagnostics);
      }
    }
  }
}

}  // namespace raddle::opt
