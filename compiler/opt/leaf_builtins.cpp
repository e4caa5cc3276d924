#include "compiler/opt/leaf_builtins.hpp"

namespace raddle {
namespace {

struct Entry {
  LeafBuiltin builtin;
  std::string_view name;
  std::string_view inputs;
};

constexpr Entry entries[] = {
#define RADDLE_LEAF_BUILTIN(enumerator, name, inputs, output, failure) {LeafBuiltin::enumerator, name, inputs},
#define RADDLE_LEAF_BUILTIN_ALIAS(enumerator, name, inputs, output, failure) {LeafBuiltin::enumerator, name, inputs},
#include "compiler/opt/leaf_builtins.def"
};

struct Result {
  char type;
  LeafBuiltinFailure failure;
};

constexpr Result results[] = {
#define RADDLE_LEAF_BUILTIN(enumerator, name, inputs, output, failure) {output, LeafBuiltinFailure::failure},
#include "compiler/opt/leaf_builtins.def"
};

bool matches(const TypeStore& types, char letter, TypeId type) {
  const TypeId base = types.base(type);
  switch (letter) {
    case 'i': return base == TypeStore::int_;
    case 'f': return base == TypeStore::float_;
    case 'b': return base == TypeStore::boolean;
    case 's': return base == TypeStore::string;
    case 'A': return types.is_array(base);
  }
  return false;
}

}  // namespace

std::optional<LeafBuiltin> leaf_builtin(const TypeStore& types, std::string_view name,
                                        std::span<const TypeId> argument_types) {
  for (const Entry& entry : entries) {
    if (entry.name != name || entry.inputs.size() != argument_types.size()) continue;
    bool all_match = true;
    for (std::size_t i = 0; i < argument_types.size(); ++i)
      all_match = all_match && matches(types, entry.inputs[i], argument_types[i]);
    if (all_match) return entry.builtin;
  }
  return std::nullopt;
}

TypeId result_type_of(LeafBuiltin builtin) {
  switch (results[static_cast<std::size_t>(builtin)].type) {
    case 'i': return TypeStore::int_;
    case 'f': return TypeStore::float_;
    case 'b': return TypeStore::boolean;
    case 'v': return TypeStore::void_;
  }
  return TypeStore::error;
}

LeafBuiltinFailure failure_of(LeafBuiltin builtin) { return results[static_cast<std::size_t>(builtin)].failure; }

}  // namespace raddle
