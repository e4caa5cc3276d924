#pragma once
// What can be called: functions of the scripts and builtins in one form, as overload resolution sees them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ast/nodes.hpp"
#include "compiler/types/type_store.hpp"

namespace raddle::check_detail {

/// A type with type variables: `int`, `T`, `V[K]`, `bag<T>`.
struct TypePattern {
  enum class Kind : std::uint8_t { concrete, variable, array, bag };
  Kind kind = Kind::concrete;
  TypeId type = TypeStore::error;       ///< concrete
  std::string variable = {};            ///< variable: its name
  std::vector<TypePattern> parts = {};  ///< array: key, element; bag: element
  bool operator==(const TypePattern&) const = default;
};

struct FormalPattern {
  std::vector<TypePattern> alternatives;  ///< more than one: a union
  std::string name;                       ///< "" where arguments can not be given by keyword
  const ast::Expr* default_value = nullptr;
};

struct Signature {
  std::string name;
  ast::CalleeKind kind = ast::CalleeKind::function;
  std::uint32_t index = 0;  ///< into CheckedProgram::functions or the table of builtins
  std::vector<FormalPattern> inputs = {};
  std::vector<TypePattern> outputs = {};
  bool varargs = false;  ///< the last input may be given any number of times, also not at all
  bool deprecated = false;
  Span span = {};  ///< of the name where a script's function is defined
};

/// What the type variables of one call mean: a handful at most.
class Bindings {
 public:
  std::optional<TypeId> find(std::string_view variable) const {
    for (const auto& [name, type] : types_)
      if (name == variable) return type;
    return std::nullopt;
  }
  /// @param variable  unbound so far
  void bind(std::string_view variable, TypeId type) { types_.emplace_back(variable, type); }

 private:
  std::vector<std::pair<std::string_view, TypeId>> types_;  ///< names are those of the signature
};

/// As a user reads it: "(float mean, ...)"-less short form `f(int, string = " ")`.
std::string describe(const Signature& signature, const TypeStore& types);
std::string describe(const FormalPattern& formal, const TypeStore& types);

}  // namespace raddle::check_detail
