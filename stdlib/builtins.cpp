#include "stdlib/builtins.hpp"

#include <algorithm>

#include "stdlib/module_sources.hpp"
#include "stdlib/native/functions.hpp"

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

}  // namespace

std::span<const Builtin> builtins() { return table; }

bool uses_name_of_file(const Builtin& builtin) { return builtin.signature.find("(&file ") != std::string_view::npos; }
bool uses_name_of_url(const Builtin& builtin) { return builtin.signature.find("(&url ") != std::string_view::npos; }
bool looks_at_growing_array(const Builtin& builtin) { return builtin.signature.find("&&") != std::string_view::npos; }

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
