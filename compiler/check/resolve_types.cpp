#include "compiler/check/resolve_types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diagnostics/foreign_names.hpp"

namespace raddle::check_detail {
namespace {

using ast::TypeDefinition;
using ast::TypeDefinitionKind;

/// `x int` in place of `int x`: help where `x` was reported as a type. @return whether it is so
bool suggest_type_first(Context& context, const ast::Formal& formal) {
  const std::string& type = formal.name.text;
  if (!context.types.contains(type) || context.types.contains(formal.type.name.text)) return false;
  if (context.diagnostics.all().empty() || context.diagnostics.latest().kind != DiagnosticKind::unknown_type)
    return false;
  context.diagnostics.latest().help = {"the type stands before the name: `" + type + " " + formal.type.name.text + "`"};
  return true;
}

const ast::Expr* literal_of_constant(const Context& context, const std::string& name) {
  for (const auto& module : context.program.modules)
    for (const auto& constant : module->constants)
      if (constant->name.text == name) return constant->value.get();
  return nullptr;
}

/// Extents that belong to a type are the same wherever it is used.
std::int64_t extent_in_type(Context& context, const ast::Expr& entry) {
  if (is_open(entry)) return -1;
  const ast::Expr* literal = &entry;
  if (entry.kind == ast::ExprKind::Name) literal = literal_of_constant(context, ast::as<const ast::Name>(entry).text);
  if (literal != nullptr && literal->kind == ast::ExprKind::IntLiteral)
    return ast::as<const ast::IntLiteral>(*literal).value;
  context.diagnostics
      .report(DiagnosticKind::bad_dense_type, entry.span, "extents that belong to a type are ints or constants")
      .note("`:` stands for any extent, as in `float v[:]`");
  return -1;
}

/// As of StructType::Field. @param resolved  what `type` and `dimensions` are
std::vector<std::int64_t> extents_in_type(Context& context, const ast::TypeExpr& type,
                                          const std::vector<ast::Dimension>& dimensions, TypeId resolved) {
  if (!has_dense_inside(context.store(), resolved)) return {};
  const ast::Dimension* const dimension = extents_of(type, dimensions);
  if (dimension == nullptr || dimension->entries.empty() || !has_extents(context, *dimension))
    return fixed_extents(context, type, resolved);
  std::vector<std::int64_t> extents;
  for (const ast::ExprPtr& entry : dimension->entries) extents.push_back(extent_in_type(context, *entry));
  return extents;
}

/// Makes the types of definitions, each when it is first needed.
class TypeDefinitions {
 public:
  explicit TypeDefinitions(Context& context) : context_(context) {}

  void collect() {
    for (const auto& module : context_.program.modules)
      for (TypeDefinition& definition : module->types) add(definition);
  }

  void make_all() {
    // structures first: they have an identity before their fields are known, so they may refer to each other
    for (TypeDefinition* definition : order_)
      if (definition->kind == TypeDefinitionKind::structure)
        enter(*definition, context_.store().new_structure(definition->name.text, definition->name.span));
    for (TypeDefinition* definition : order_) make(*definition);
    for (TypeDefinition* definition : order_)
      if (definition->kind == TypeDefinitionKind::structure) fill(*definition);
    for (TypeDefinition* definition : order_)
      if (definition->kind == TypeDefinitionKind::structure) report_endless(*definition);
  }

 private:
  void add(TypeDefinition& definition) {
    const auto [known, fresh] = by_name_.try_emplace(definition.name.text, &definition);
    const auto predefined = context_.types.find(definition.name.text);
    if (fresh && predefined == context_.types.end()) {
      order_.push_back(&definition);
      return;
    }
    Diagnostic& diagnostic =
        context_.diagnostics.report(DiagnosticKind::redefined, definition.name.span, definition.name.text);
    if (!fresh) diagnostic.label(known->second->name.span, "first defined here");
  }

  void enter(const TypeDefinition& definition, TypeId type, std::vector<std::int64_t> extents = {}) {
    const bool is_alias = definition.kind == TypeDefinitionKind::alias;
    context_.types[definition.name.text] = {type, definition.name.span, is_alias, std::move(extents)};
  }

  void make(TypeDefinition& definition) {
    if (context_.types.contains(definition.name.text)) return;
    if (definition.kind == TypeDefinitionKind::file_subtype) {
      context_.diagnostics.report(DiagnosticKind::deprecated_file_type, definition.name.span, definition.name.text);
      enter(definition, context_.store().new_named(definition.name.text, TypeStore::file));
      return;
    }
    if (!in_progress_.insert(&definition).second) {
      context_.diagnostics.report(DiagnosticKind::endless_type, definition.name.span, definition.name.text);
      enter(definition, TypeStore::error);
      return;
    }
    make_needed(definition.base);
    if (context_.types.contains(definition.name.text)) return;  // found to be endless on the way
    const TypeId base = resolve_type(context_, definition.base, {});
    const bool distinct = definition.kind == TypeDefinitionKind::distinct && base != TypeStore::error;
    if (distinct && context_.store().is_dense(base)) {
      context_.diagnostics
          .report(DiagnosticKind::not_supported, definition.base.span, "a distinct type of dense arrays")
          .note("another name for them is an alias: `typedef " + definition.name.text + " float[:];`");
      enter(definition, TypeStore::error);
      return;
    }
    enter(definition, distinct ? context_.store().new_named(definition.name.text, base) : base,
          extents_in_type(context_, definition.base, {}, base));
  }

  void make_needed(const ast::TypeExpr& type) {
    if (const auto found = by_name_.find(type.name.text); found != by_name_.end()) make(*found->second);
    for (const ast::TypeExpr& argument : type.arguments) make_needed(argument);
  }

  void fill(TypeDefinition& definition) {
    const TypeId id = context_.types.at(definition.name.text).type;
    for (ast::Formal& field : definition.fields) {
      field.resolved_type = resolve_type(context_, field.type, field.dimensions);
      if (suggest_type_first(context_, field)) field.name = field.type.name;
      if (field.resolved_type == TypeStore::updateable) {
        context_.diagnostics.report(DiagnosticKind::misplaced_updateable, field.span, "a field");
        field.resolved_type = TypeStore::error;
      }
      StructType& structure = context_.store().structure(id);
      bool taken = false;
      for (const StructType::Field& other : structure.fields) {
        if (other.name != field.name.text) continue;
        context_.diagnostics.report(DiagnosticKind::redefined, field.name.span, field.name.text)
            .label(other.span, "first defined here");
        taken = true;
      }
      if (taken) continue;
      std::vector<std::int64_t> extents = extents_in_type(context_, field.type, field.dimensions, field.resolved_type);
      structure.fields.push_back({field.name.text, field.resolved_type, field.name.span, std::move(extents)});
    }
  }

  /// A structure that contains itself other than through an array or bag can not exist.
  void report_endless(const TypeDefinition& definition) {
    const TypeId id = context_.types.at(definition.name.text).type;
    std::unordered_set<TypeId> seen;
    for (StructType::Field& field : context_.store().structure(id).fields) {
      if (!reaches(field.type, id, seen)) continue;
      context_.diagnostics.report(DiagnosticKind::endless_type, field.span, definition.name.text);
      field.type = TypeStore::error;
    }
  }

  bool reaches(TypeId from, TypeId target, std::unordered_set<TypeId>& seen) {
    if (from == target) return true;
    if (context_.store().kind(from) != TypeKind::structure || !seen.insert(from).second) return false;
    for (const StructType::Field& field : context_.store().structure(from).fields)
      if (reaches(field.type, target, seen)) return true;
    return false;
  }

  Context& context_;
  std::unordered_map<std::string, TypeDefinition*> by_name_;
  std::unordered_set<const TypeDefinition*> in_progress_;
  std::vector<TypeDefinition*> order_;
};

void declare_predefined(Context& context) {
  for (const TypeId type :
       {TypeStore::int_, TypeStore::float_, TypeStore::string, TypeStore::boolean, TypeStore::void_, TypeStore::blob,
        TypeStore::file, TypeStore::url, TypeStore::updateable, TypeStore::int32, TypeStore::float32})
    context.types[context.name(type)] = {type, {}, true};
  context.types["external"] = {context.store().new_named("external", TypeStore::void_), {}, true};
  for (const char* name : {"LocationStrictness", "LocationAccuracy"})
    context.types[name] = {context.store().new_named(name, TypeStore::string), {}, false};
  const TypeId location = context.store().new_structure("location", {});
  context.store().structure(location).fields = {{"rank", TypeStore::int_, {}},
                                                {"strictness", context.types.at("LocationStrictness").type, {}},
                                                {"accuracy", context.types.at("LocationAccuracy").type, {}}};
  context.types["location"] = {location, {}, false};
}

using TypeVariables = std::vector<ast::Identifier>;

bool is_variable(const TypeVariables& variables, const std::string& name) {
  return std::ranges::any_of(variables, [&](const ast::Identifier& one) { return one.text == name; });
}

TypePattern concrete(TypeId type) { return {.type = type}; }
bool is_error(const TypePattern& pattern) {
  return pattern.kind == TypePattern::Kind::concrete && pattern.type == TypeStore::error;
}

std::string word_of(const ast::Expr& entry) {
  return entry.kind == ast::ExprKind::Name ? ast::as<ast::Name>(entry).text : "";
}

/// Extents in the library, `float a[n]`, stay extents where the script has a type `n`.
bool names_type(const Context& context, const ast::Expr& entry) {
  const auto found = context.types.find(word_of(entry));
  if (found == context.types.end()) return false;
  const Span& defined = found->second.span;
  return defined.end == 0 || context.is_of_library(defined) || !context.is_of_library(entry.span);
}

/// Of a type variable, too.
bool has_extents(const Context& context, const TypeVariables& variables, const ast::Dimension& dimension) {
  const bool is_one = dimension.entries.size() == 1;
  return !(is_one && is_variable(variables, word_of(*dimension.entries.front()))) && has_extents(context, dimension);
}

/// The key type that one `[...]` names.
TypePattern resolve_key(Context& context, const TypeVariables& variables, const ast::Dimension& dimension) {
  if (dimension.entries.empty()) return concrete(TypeStore::int_);
  const ast::Expr& entry = *dimension.entries.front();
  const std::string word = word_of(entry);
  if (is_variable(variables, word)) return {.kind = TypePattern::Kind::variable, .variable = word};
  const TypeId key = context.types.at(word).type;
  if (key == TypeStore::error || context.store().is_scalar(key)) return concrete(key);
  context.diagnostics.report(DiagnosticKind::bad_key_type, entry.span, context.name(key));
  return concrete(TypeStore::error);
}

/// Updateables are not values: nothing can contain one.
bool refuse_updateable(Context& context, TypeId type, Span span, const char* what) {
  if (type != TypeStore::updateable) return false;
  context.diagnostics.report(DiagnosticKind::misplaced_updateable, span, what);
  return true;
}

TypePattern array_of(Context& context, TypePattern key, TypePattern element, Span span) {
  if (refuse_updateable(context, element.type, span, "an element of an array")) return concrete(TypeStore::error);
  if (is_error(key) || is_error(element)) return concrete(TypeStore::error);
  if (key.kind == TypePattern::Kind::concrete && element.kind == TypePattern::Kind::concrete)
    return concrete(context.store().array_of(key.type, element.type));
  return {.kind = TypePattern::Kind::array, .parts = {std::move(key), std::move(element)}};
}

/// Dense arrays hold numbers and booleans, and lie innermost.
TypePattern dense_of(Context& context, const TypePattern& element, const ast::Dimension& dimension) {
  constexpr std::size_t most = 8;
  const auto refuse = [&](std::string why) -> Diagnostic& {
    return context.diagnostics.report(DiagnosticKind::bad_dense_type, dimension.span, std::move(why));
  };
  if (element.kind != TypePattern::Kind::concrete || !TypeStore::is_number_or_truth(element.type)) {
    const bool holds_arrays = element.kind == TypePattern::Kind::array ||
                              (element.kind == TypePattern::Kind::concrete &&
                               (context.store().is_array(element.type) || context.store().is_dense(element.type)));
    if (holds_arrays)
      refuse("the dimensions of a dense array stand in one pair of brackets, the last one")
          .note("as in `float A[n, m];`, `float tiles[][b, b];`");
    else
      refuse("a dense array holds `int`, `float`, `boolean`, `int32` or `float32`")
          .note("arrays of other values grow as they are filled, with empty brackets: `string names[];`");
    return concrete(TypeStore::error);
  }
  for (const auto& entry : dimension.entries) {
    if (entry->kind != ast::ExprKind::Slice || is_open(*entry)) continue;
    refuse("an extent is a number, or `:` where it is that of what is assigned")
        .note("indices count from 0: `float A[n];`");
    return concrete(TypeStore::error);
  }
  if (dimension.entries.size() > most) {
    refuse(fmt::format("a dense array has at most {} dimensions", most));
    return concrete(TypeStore::error);
  }
  return concrete(context.store().dense_of(element.type, static_cast<std::uint32_t>(dimension.entries.size())));
}

TypePattern with_dimensions(Context& context, const TypeVariables& variables, TypePattern element,
                            const std::vector<ast::Dimension>& dimensions) {
  if (is_error(element)) return element;
  std::vector<TypePattern> keys;
  for (const ast::Dimension& dimension : dimensions) {
    const bool is_dense = has_extents(context, variables, dimension);
    keys.push_back(is_dense ? concrete(TypeStore::void_) : resolve_key(context, variables, dimension));
    if (is_error(keys.back())) return keys.back();  // of several, the first wrong one is reported
  }
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    if (has_extents(context, variables, dimensions[i])) {
      element = dense_of(context, element, dimensions[i]);
      if (is_error(element)) return element;
      continue;
    }
    element = array_of(context, std::move(keys[i]), std::move(element), dimensions[i].span);
  }
  return element;
}

TypePattern resolve_plain(Context& context, const TypeVariables& variables, const ast::TypeExpr& type);

TypePattern resolve_bag(Context& context, const TypeVariables& variables, const ast::TypeExpr& element) {
  TypePattern pattern = resolve_plain(context, variables, element);
  if (is_error(pattern) || refuse_updateable(context, pattern.type, element.span, "an element of a bag"))
    return concrete(TypeStore::error);
  if (pattern.kind == TypePattern::Kind::concrete) return concrete(context.store().bag_of(pattern.type));
  return {.kind = TypePattern::Kind::bag, .parts = {std::move(pattern)}};
}

TypeId resolve_name(Context& context, const ast::TypeExpr& type) {
  const auto found = context.types.find(type.name.text);
  if (found != context.types.end() && type.arguments.empty()) return found->second.type;
  if (context.options.is_module_missing) return TypeStore::error;
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::unknown_type, type.name.span, type.name.text);
  if (const std::string_view help = help_for_foreign_name(type.name.text, NameUse::type); !help.empty()) {
    diagnostic.note(std::string(help));
    return TypeStore::error;
  }
  std::vector<std::string> candidates = {"bag"};
  for (const auto& [name, entry] : context.types) candidates.push_back(name);
  suggest(diagnostic, type.name.text, candidates);
  return TypeStore::error;
}

/// `type` with its own dimensions, without its further alternatives.
TypePattern resolve_plain(Context& context, const TypeVariables& variables, const ast::TypeExpr& type) {
  TypePattern pattern;
  if (type.arguments.empty() && is_variable(variables, type.name.text)) {
    pattern = {.kind = TypePattern::Kind::variable, .variable = type.name.text};
  } else if (type.name.text == "bag" && type.arguments.size() == 1) {
    pattern = resolve_bag(context, variables, type.arguments.front());
  } else {
    pattern = concrete(resolve_name(context, type));
  }
  return with_dimensions(context, variables, std::move(pattern), type.dimensions);
}

}  // namespace

TypeId resolve_type(Context& context, const ast::TypeExpr& type, const std::vector<ast::Dimension>& dimensions) {
  if (!type.alternatives.empty()) {
    context.diagnostics.report(DiagnosticKind::misplaced_union, type.span);
    return TypeStore::error;
  }
  const TypePattern pattern = resolve_plain(context, {}, type);
  return with_dimensions(context, {}, pattern, dimensions).type;
}

std::vector<TypePattern> resolve_formal(Context& context, const TypeVariables& variables, ast::Formal& formal) {
  std::vector<TypePattern> alternatives;
  const auto add = [&](const ast::TypeExpr& type) {
    TypePattern plain = resolve_plain(context, variables, type);
    alternatives.push_back(with_dimensions(context, variables, std::move(plain), formal.dimensions));
  };
  add(formal.type);
  if (suggest_type_first(context, formal)) formal.name = formal.type.name;  // as it was meant
  for (const ast::TypeExpr& alternative : formal.type.alternatives) add(alternative);
  return alternatives;
}

bool has_extents(const Context& context, const ast::Dimension& dimension) {
  return dimension.entries.size() > 1 ||
         (dimension.entries.size() == 1 && !names_type(context, *dimension.entries.front()));
}

bool has_dense_inside(const TypeStore& types, TypeId type) {
  const TypeId base = types.base(type);
  if (types.is_dense(base)) return true;
  const bool holds = types.is_array(base) || types.kind(base) == TypeKind::bag;
  return holds && has_dense_inside(types, types.at(base).element);
}

std::vector<std::int64_t> fixed_extents(Context& context, const ast::TypeExpr& type, TypeId resolved) {
  if (!has_dense_inside(context.store(), resolved)) return {};
  if (!type.arguments.empty()) {
    const ast::TypeExpr& element = type.arguments.front();
    return extents_in_type(context, element, {}, resolve_plain(context, {}, element).type);
  }
  const auto named = context.types.find(type.name.text);
  return named == context.types.end() ? std::vector<std::int64_t>() : named->second.extents;
}

bool is_open(const ast::Expr& entry) {
  if (entry.kind != ast::ExprKind::Slice) return false;
  const auto& slice = ast::as<const ast::Slice>(entry);
  return slice.low == nullptr && slice.high == nullptr && slice.step == nullptr;
}

void declare_types(Context& context) {
  declare_predefined(context);
  TypeDefinitions definitions(context);
  definitions.collect();
  definitions.make_all();
}

}  // namespace raddle::check_detail
