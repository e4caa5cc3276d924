#include "compiler/check/builtin_signatures.hpp"

#include <charconv>

#include "stdlib/builtins.hpp"
#include "stdlib/definitions.hpp"
#include "stdlib/module_sources.hpp"

namespace raddle::check_detail {
namespace {

TypeId type_id(stdlib::BasicType basic) {
  switch (basic) {
    case stdlib::BasicType::int_: return TypeStore::int_;
    case stdlib::BasicType::float_: return TypeStore::float_;
    case stdlib::BasicType::string: return TypeStore::string;
    case stdlib::BasicType::boolean: return TypeStore::boolean;
    case stdlib::BasicType::int32: return TypeStore::int32;
    case stdlib::BasicType::float32: return TypeStore::float32;
    case stdlib::BasicType::void_: return TypeStore::void_;
    case stdlib::BasicType::blob: return TypeStore::blob;
    case stdlib::BasicType::file: return TypeStore::file;
    case stdlib::BasicType::url: return TypeStore::url;
    case stdlib::BasicType::updateable_float: return TypeStore::updateable;
    case stdlib::BasicType::variable: break;
  }
  return TypeStore::error;
}

TypePattern pattern_of(const stdlib::NamedType& type) {
  if (type.basic == stdlib::BasicType::variable)
    return {.kind = TypePattern::Kind::variable, .variable = std::string(1, type.variable)};
  return {.type = type_id(type.basic)};
}

TypePattern pattern_of(const stdlib::SignatureType& type) {
  TypePattern pattern = pattern_of(type.element);
  if (type.is_bag) pattern = {.kind = TypePattern::Kind::bag, .parts = {std::move(pattern)}};
  for (std::size_t i = type.keys.size(); i-- > 0;)
    pattern = {.kind = TypePattern::Kind::array, .parts = {pattern_of(type.keys[i]), std::move(pattern)}};
  return pattern;
}

template <typename Number>
Number number_of(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <typename Literal, typename Value>
const ast::Expr* literal(Context& context, Value value, TypeId type) {
  auto made = std::make_unique<Literal>();
  made->value = std::move(value);
  made->type = type;
  return context.program.builtin_defaults.emplace_back(std::move(made)).get();
}

const ast::Expr* default_literal(Context& context, std::string_view text, TypeId type) {
  switch (type) {
    case TypeStore::int_: return literal<ast::IntLiteral>(context, number_of<std::int64_t>(text), type);
    case TypeStore::float_: return literal<ast::FloatLiteral>(context, number_of<double>(text), type);
    case TypeStore::boolean: return literal<ast::BoolLiteral>(context, text == "true", type);
    default: return literal<ast::StringLiteral>(context, std::string(text), type);
  }
}

FormalPattern formal_of(Context& context, const stdlib::Builtin& builtin, const stdlib::SignatureInput& input) {
  FormalPattern formal;
  for (const stdlib::SignatureType& type : input.alternatives) formal.alternatives.push_back(pattern_of(type));
  formal.name = input.name.of(builtin.signature);
  if (input.has_default)
    formal.default_value =
        default_literal(context, input.default_value.of(builtin.signature), formal.alternatives[0].type);
  return formal;
}

/// Names that end in `_` are the module's own.
void note_hidden(Context& context, std::string_view name, std::string_view module) {
  if (name.ends_with('_')) return;
  std::vector<std::string>& modules = context.not_imported[std::string(name)];
  if (std::ranges::find(modules, module) == modules.end()) modules.emplace_back(module);
}

std::unordered_set<std::string> imported_modules(const Context& context) {
  std::unordered_set<std::string> names = {""};
  for (const auto& module : context.program.modules)
    for (const ast::Import& import : module->imports) names.insert(import.module);
  return names;
}

/// Functions of the modules in the language itself.
void note_undeclared_functions(Context& context, const std::unordered_set<std::string>& imported) {
  for (const stdlib::ModuleSource& source : stdlib::module_sources()) {
    const bool is_imported = source.module == "builtins" || imported.contains(std::string(source.module));
    for (const stdlib::Definition& definition : stdlib::definitions_of(source.text)) {
      if (!definition.is_function || definition.name.ends_with('_')) continue;
      if (is_imported)
        context.left_out.emplace(definition.name);
      else
        note_hidden(context, definition.name, source.module);
    }
  }
}

}  // namespace

void declare_builtins(Context& context) {
  const std::unordered_set<std::string> imported = imported_modules(context);
  const auto builtins = stdlib::builtins();
  for (std::uint32_t index = 0; index < builtins.size(); ++index) {
    const stdlib::Builtin& builtin = builtins[index];
    const std::string name(builtin.name);
    if (name.starts_with('@')) continue;  // lowering's own
    if (!imported.contains(std::string(builtin.module))) {
      note_hidden(context, name, builtin.module);
      continue;
    }
    const stdlib::BuiltinSignature& declared = stdlib::signature_of(builtin);
    Signature signature{
        .name = name, .kind = ast::CalleeKind::builtin, .index = index, .varargs = declared.has_varargs};
    for (const stdlib::SignatureInput& input : declared.inputs)
      signature.inputs.push_back(formal_of(context, builtin, input));
    for (const stdlib::SignatureType& output : declared.outputs) signature.outputs.push_back(pattern_of(output));
    context.callables[name].push_back(std::move(signature));
  }
  note_undeclared_functions(context, imported);
}

}  // namespace raddle::check_detail
