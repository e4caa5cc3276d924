#pragma once
// What can be called: functions of the scripts and builtins in one form, as overload resolution sees them.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ast/nodes.hpp"
#include "compiler/types/type_store.hpp"

namespace raddle::check_detail {

/// A type with type variables: `int`, `T`, `V[K]`, `bag<T>`.
struct TypePattern {
  enum class Kind : std::uint8_t { concrete, variable, array, bag };
  Kind kind = Kind::concrete;
  TypeId type = TypeStore::error;       ///< concrete
  char variable = 0;                    ///< variable: 'A'..'Z'
  std::vector<TypePattern> parts = {};  ///< array: key, element; bag: element
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

/// Types of the variables 'A'..'Z'; TypeStore::error while unbound.
class Bindings {
 public:
  bool is_bound(char variable) const { return bound_[slot(variable)]; }
  TypeId at(char variable) const { return types_[slot(variable)]; }
  void bind(char variable, TypeId type) {
    types_[slot(variable)] = type;
    bound_[slot(variable)] = true;
  }

 private:
  static std::size_t slot(char variable) { return static_cast<std::size_t>(variable - 'A'); }
  std::array<TypeId, 26> types_{};
  std::array<bool, 26> bound_{};
};

/// As a user reads it: "(float mean, ...)"-less short form `f(int, string = " ")`.
std::string describe(const Signature& signature, const TypeStore& types);
std::string describe(const FormalPattern& formal, const TypeStore& types);

}  // namespace raddle::check_detail
