#pragma once
// Types of values, interned: equal types have equal ids. Shared by check, lower, ir, codegen and emit.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/source/source_buffer.hpp"

namespace raddle {

enum class TypeKind : std::uint8_t {
  error,   ///< silences follow-on errors
  int_,    ///< 64-bit signed
  float_,  ///< IEEE double
  string,
  boolean,
  void_,  ///< no value, only "closed or not"
  blob,
  file,
  url,
  array,       ///< key -> element, sparse
  bag,         ///< element
  structure,   ///< index into TypeStore::structures
  named,       ///< `type t int;`: distinct, converts to `element` (its base) implicitly
  updateable,  ///< updateable_float
};

using TypeId = std::uint32_t;

struct Type {
  TypeKind kind = TypeKind::error;
  TypeId key = 0;           ///< array: key type
  TypeId element = 0;       ///< array, bag: element type; named: base type
  std::uint32_t index = 0;  ///< structure: index into structures; named: index into names
  bool operator==(const Type&) const = default;
};

struct StructType {
  struct Field {
    std::string name;
    TypeId type;
    Span span;
  };
  std::string name;
  std::vector<Field> fields;
  Span span;
};

/// Owns all types of a session. Basic types have fixed ids, in the order of the constants below.
class TypeStore {
 public:
  static constexpr TypeId error = 0, int_ = 1, float_ = 2, string = 3, boolean = 4, void_ = 5, blob = 6, file = 7,
                          url = 8, updateable = 9;
  TypeStore();
  TypeId array_of(TypeId key, TypeId element);
  TypeId bag_of(TypeId element);
  /// A new structure; fields may be added afterwards through structure().
  TypeId new_structure(std::string name, Span span);
  /// A new distinct type `name` over `base`.
  TypeId new_named(std::string name, TypeId base);

  const Type& at(TypeId id) const { return types_[id]; }
  TypeKind kind(TypeId id) const { return types_[id].kind; }
  /// `id`, or for a named type its base, all the way down.
  TypeId base(TypeId id) const;
  StructType& structure(TypeId id) { return structures_[types_[id].index]; }
  const StructType& structure(TypeId id) const { return structures_[types_[id].index]; }
  bool is_array(TypeId id) const { return kind(id) == TypeKind::array; }
  /// int, float, string, boolean or a named type over one.
  bool is_scalar(TypeId id) const;
  /// As a user writes it: `int[]`, `float[string]`, `bag<int>`, `person`.
  std::string name(TypeId id) const;

 private:
  TypeId intern(Type type);
  std::deque<Type> types_;
  std::deque<StructType> structures_;
  std::deque<std::string> names_;
};

}  // namespace raddle
