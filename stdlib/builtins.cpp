#include "stdlib/builtins.hpp"

#include <algorithm>

#include "stdlib/module_sources.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/read_signature.hpp"

namespace raddle::stdlib {
namespace {

using enum BuiltinEffect;

// Constant data: start-up does nothing for it.
constexpr Builtin table[] = {
#define RADDLE_BUILTIN(name, module, signature, effect, function, summary, example) \
  {name, module, signature, effect, native::function, summary, example},
#include "stdlib/builtins.def"
#undef RADDLE_BUILTIN
};

// Beside the table, which has addresses in it: nothing of this is touched at a start.
constexpr BuiltinSignature signatures[] = {
#define RADDLE_BUILTIN(name, module, signature, effect, function, summary, example) read_signature(signature),
#include "stdlib/builtins.def"
#undef RADDLE_BUILTIN
};

}  // namespace

std::span<const Builtin> builtins() { return table; }

const BuiltinSignature& signature_of(const Builtin& builtin) { return signatures[&builtin - table]; }

bool is_made_by_lowering(const Builtin& builtin) { return builtin.function == native::made_by_lowering; }

std::optional<std::int64_t> evaluate_check(const Builtin& builtin, std::span<const vm::Value> arguments) {
  using vm::ValueKind;
  const auto is_plain = [](const vm::Value& value) {
    return value.kind() == ValueKind::int_ || value.kind() == ValueKind::string;
  };
  const bool is_check = builtin.name.starts_with('@') || builtin.name == "axis_";
  if (!is_check || builtin.effect != pure || !std::ranges::all_of(arguments, is_plain)) return std::nullopt;
  static const vm::RunSettings none;
  vm::Value result;
  const auto outcome = builtin.function({.settings = none, .stream = 0}, arguments, std::span(&result, 1));
  if (!outcome || result.kind() != ValueKind::int_) return std::nullopt;
  return result.as_int();
}

bool is_module(std::string_view name) {
  if (name.empty()) return false;
  return name == "builtins" || !module_source(name).empty() ||
         std::ranges::find(table, name, &Builtin::module) != std::ranges::end(table);
}

std::string_view module_source(std::string_view name) {
  for (const ModuleSource& source : module_sources()) {
    if (source.module == name) return source.text;
  }
  return {};
}

}  // namespace raddle::stdlib
