#pragma once
// Types of values, interned: equal types have equal ids. Shared by check, lower, ir, codegen and emit.
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
  structure,   ///< index into TypeStore::structures; dense arrays too: Note [dense types]
  named,       ///< `type t int;`: distinct, converts to `element` (its base) implicitly
  updateable,  ///< updateable_float
  int32,       ///< an int of 32 bits
  float32,     ///< IEEE single
};

using TypeId = std::uint32_t;

struct Type {
  TypeKind kind = TypeKind::error;
  TypeId key = 0;           ///< array: key type
  TypeId element = 0;       ///< array, bag: element type; named: base type
  std::uint32_t index = 0;  ///< structure: index into structures; named: index into names
  auto operator<=>(const Type&) const = default;
};

// Note [dense types]. A dense array, `float A[n, m]`, is a structure that no script has written: its fields are the
// array of its elements, `float[]`, in row-major order with the keys 0 to n*m - 1, and its extents, ints. Check sees a
// type of its own (is_dense()); what comes after check sees a structure and an array, and needs to know nothing else.
struct StructType {
  struct Field {
    std::string name;
    TypeId type;
    Span span;
    std::vector<std::int64_t> extents = {};  ///< written for the dense arrays in it, -1: any; empty: none
  };
  std::string name;
  std::vector<Field> fields;
  Span span;
  std::uint32_t rank = 0;  ///< of a dense array; 0: a structure of the script
};
/// The name of a dense array's first field, as in vm/value/dense.hpp: no script can write it.
inline constexpr const char* dense_elements_name = "[:]";

/// Owns all types of a session. Basic types have fixed ids, in the order of the constants below.
class TypeStore {
 public:
  static constexpr TypeId error = 0, int_ = 1, float_ = 2, string = 3, boolean = 4, void_ = 5, blob = 6, file = 7,
                          url = 8, updateable = 9, int32 = 10, float32 = 11;
  TypeStore();
  TypeId array_of(TypeId key, TypeId element);
  TypeId bag_of(TypeId element);
  /// A new structure; fields may be added afterwards through structure().
  TypeId new_structure(std::string name, Span span);
  /// The dense arrays of `rank` dimensions. @param element  is_number_or_truth()
  TypeId dense_of(TypeId element, std::uint32_t rank);
  /// The same if it was made before; those of fewer dimensions are made along.
  TypeId find_dense(TypeId element, std::uint32_t rank) const { return dense_.at({element, rank}); }
  /// A new distinct type `name` over `base`.
  TypeId new_named(std::string name, TypeId base);

  const Type& at(TypeId id) const { return types_[id]; }
  TypeKind kind(TypeId id) const { return types_[id].kind; }
  /// `id`, or for a named type its base, all the way down.
  TypeId base(TypeId id) const;
  StructType& structure(TypeId id) { return structures_[types_[id].index]; }
  const StructType& structure(TypeId id) const { return structures_[types_[id].index]; }
  bool is_array(TypeId id) const { return kind(id) == TypeKind::array; }
  bool is_dense(TypeId id) const { return rank(id) != 0; }
  /// Of a dense array; 0 for all else.
  std::uint32_t rank(TypeId id) const { return kind(id) == TypeKind::structure ? structure(id).rank : 0; }
  /// The type of a dense array's first field, `float[]`, and what it consists of. @pre is_dense(id)
  TypeId dense_elements(TypeId id) const { return structure(id).fields[0].type; }
  TypeId dense_element(TypeId id) const { return at(dense_elements(id)).element; }
  /// int, float, int32, float32: of these themselves, not of named types.
  static bool is_number(TypeId id) { return id == int_ || id == float_ || is_narrow(id); }
  static bool is_number_or_truth(TypeId id) { return is_number(id) || id == boolean; }
  /// Numbers of 32 bits.
  static bool is_narrow(TypeId id) { return id == int32 || id == float32; }
  static bool is_int(TypeId id) { return id == int_ || id == int32; }
  /// As what numbers of this type are computed: int for int32, float for float32.
  static TypeId wide(TypeId id) { return id == int32 ? int_ : id == float32 ? float_ : id; }
  /// A number of the one type becomes one of the other by itself: int32 to int to float, float32 to float.
  static bool widens(TypeId from, TypeId to);
  /// A number, string, boolean or a named type over one.
  bool is_scalar(TypeId id) const;
  /// As a user writes it: `int[]`, `float[string]`, `bag<int>`, `person`.
  std::string name(TypeId id) const;

 private:
  TypeId intern(Type type);
  std::deque<Type> types_;
  std::map<Type, TypeId> ids_;
  std::deque<StructType> structures_;
  std::map<std::pair<TypeId, std::uint32_t>, TypeId> dense_;  ///< by element and rank
  std::deque<std::string> names_;
};

}  // namespace raddle
