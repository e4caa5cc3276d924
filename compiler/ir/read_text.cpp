#include "compiler/ir/read_text.hpp"

#include "compiler/ir/module_text.hpp"
#include "compiler/ir/read_function.hpp"

namespace raddle::ir {
namespace {

using Kind = Token::Kind;

void read_structure(ModuleText& text) {
  const TypeId id = text.structure_named(text.expect(Kind::word, "a name"));
  text.expect('{');
  while (!text.accept('}')) {
    const TypeId field = text.type();
    text.module.types->structure(id).fields.push_back({text.expect(Kind::word, "a field"), field, {}});
    text.expect(';');
  }
}

void read_distinct_type(ModuleText& text) {
  const std::string name = text.expect(Kind::word, "a name");
  text.expect('=');
  text.name_type(name, text.module.types->new_named(name, text.type()));
}

void read_definition_of_function(ModuleText& text) {
  Function& function = text.module.functions[text.function_named(text.expect(Kind::function, "a name"))];
  if (!function.regions.empty()) text.fail("@" + function.name + " is defined twice");
  read_function(text, function);
}

Module read_module(ModuleText text) {
  std::string script, entry;
  while (text.peek().kind != Kind::end) {
    const std::string word = text.expect(Kind::word, "`struct`, `type`, `script`, `entry` or `function`");
    if (word == "struct")
      read_structure(text);
    else if (word == "type")
      read_distinct_type(text);
    else if (word == "script")
      script = text.expect(Kind::function, "a function");
    else if (word == "entry")
      entry = text.expect(Kind::function, "a function");
    else if (word == "function")
      read_definition_of_function(text);
    else
      text.fail("unknown definition `" + word + "`");
  }
  if (!entry.empty()) text.module.entry = text.function_named(entry);
  text.module.script = script.empty() ? text.module.entry : text.function_named(script);
  return std::move(text.module);
}

}  // namespace

std::expected<Module, std::string> read_text(std::string_view text, TypeStore& types) {
  std::expected<std::vector<Token>, std::string> tokens = text_tokens(text);
  if (!tokens) return std::unexpected(tokens.error());
  try {
    return read_module(ModuleText(std::move(*tokens), types));
  } catch (const Fault& fault) {
    return std::unexpected(fault.text);
  }
}

}  // namespace raddle::ir
