#pragma once
// Expressions of the syntax tree, types as they are written, and what all nodes are made of. See nodes.hpp.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/types/type_store.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle::ast {

using VariableId = std::uint32_t;  ///< index into CheckedProgram::variables
inline constexpr VariableId no_variable = ~0u;

enum class ExprKind : std::uint8_t {
#define RADDLE_EXPR(name) name,
#include "compiler/ast/nodes.def"
};
/// What becomes of a value once it is there.
enum class Conversion : std::uint8_t {
  none,
  to_int,             ///< an int32; of a dense array each element, as of all numbers
  to_float,           ///< an int, an int32, a float32
  to_int32,           ///< an int that is known, and fits
  to_float32,         ///< a number that is known, rounded
  as_int32,           ///< an int that has to be an int32, and stays an int: a number beside an array of int32
  as_float32,         ///< a number as a float that is rounded to a float32, and stays a float: likewise
  to_growing,         ///< a dense array of one dimension, read as a growing one; of two, as one of its rows
  to_growing_ints,    ///< one of one dimension of int32, as ints
  to_growing_floats,  ///< one of one dimension of float32 or int32, as floats
  to_string,          ///< a dense array, as a text of all its elements
  to_shown,           ///< a dense array, as a text to be printed: of many elements the first and the last ones
};
constexpr bool is_growing(Conversion conversion) {
  return conversion >= Conversion::to_growing && conversion <= Conversion::to_growing_floats;
}
/// Of what is converted; none where it is no number that becomes another one.
constexpr TypeId number_of(Conversion conversion) {
  switch (conversion) {
    case Conversion::to_int:
    case Conversion::as_int32:
    case Conversion::to_growing_ints: return TypeStore::int_;
    case Conversion::to_float:
    case Conversion::as_float32:
    case Conversion::to_growing_floats: return TypeStore::float_;
    case Conversion::to_int32: return TypeStore::int32;
    case Conversion::to_float32: return TypeStore::float32;
    default: return TypeStore::error;
  }
}
constexpr bool is_text(Conversion conversion) {
  return conversion == Conversion::to_string || conversion == Conversion::to_shown;
}

struct Expr {
  explicit Expr(ExprKind k) : kind(k) {}
  virtual ~Expr() = default;
  const ExprKind kind;
  Span span;
  TypeId type = TypeStore::error;            ///< set by check: before conversion; int literals used as float get float
  Conversion conversion = Conversion::none;  ///< set by check
};
using ExprPtr = std::unique_ptr<Expr>;

/// `node.as<Call>()`: checked in no build; look at `kind` first.
template <typename T, typename Base>
T& as(Base& node) {
  return static_cast<T&>(node);
}
template <typename T, typename Base>
const T& as(const Base& node) {
  return static_cast<const T&>(node);
}

struct Identifier {
  std::string text;
  Span span;
};

/// `@name`, `@name=expr`, `@name="text"`.
struct Annotation {
  Identifier name;
  ExprPtr value;  ///< null if none
  Span span;
};
using Annotations = std::vector<Annotation>;

// ---------------------------------------------------------------- types as written

/// One `[...]` after a name: `[]` no entries; `[string]`, `[n]`, `[n, m]`: expressions (a type's name is a Name);
/// `[:]`: a Slice without parts.
struct Dimension {
  std::vector<ExprPtr> entries;
  Span span;
  bool is_of_extents = false;  ///< set by check: expressions of a dense array's extents, and no key type
};

/// `int`, `bag<T>`, `int|float` (alternatives, in formals only), `float[]` (dimensions, in typedefs and arguments).
struct TypeExpr {
  Identifier name;
  std::vector<TypeExpr> arguments;     ///< of bag<...>
  std::vector<TypeExpr> alternatives;  ///< further members of a union
  std::vector<Dimension> dimensions;
  Span span;
};

// ---------------------------------------------------------------- expressions

struct IntLiteral : Expr {
  IntLiteral() : Expr(ExprKind::IntLiteral) {}
  std::int64_t value = 0;
};
struct FloatLiteral : Expr {
  FloatLiteral() : Expr(ExprKind::FloatLiteral) {}
  double value = 0;
};
struct StringLiteral : Expr {
  StringLiteral() : Expr(ExprKind::StringLiteral) {}
  std::string value;  ///< escapes resolved
};
struct BoolLiteral : Expr {
  BoolLiteral() : Expr(ExprKind::BoolLiteral) {}
  bool value = false;
};
struct Name : Expr {
  Name() : Expr(ExprKind::Name) {}
  std::string text;
  VariableId variable = no_variable;  ///< set by check
  bool is_end = false;                ///< set by check: `end` between `[` and `]`, the last index of its dimension
};

enum class UnaryOp : std::uint8_t { negate, not_ };
struct Unary : Expr {
  Unary() : Expr(ExprKind::Unary) {}
  UnaryOp op = UnaryOp::negate;
  Span op_span;
  ExprPtr operand;
};

enum class BinaryOp : std::uint8_t {
  or_,
  and_,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  add,
  sub,
  mul,
  div,     ///< `/`: float division, or path join of strings
  idiv,    ///< `%/`
  mod,     ///< `%%`
  format,  ///< `%`: right operand is a value or a Tuple
  pow,     ///< `**`
};
/// Text as in a script: "%/", "&&", ...
const char* text_of(BinaryOp op);
struct Binary : Expr {
  Binary() : Expr(ExprKind::Binary) {}
  BinaryOp op = BinaryOp::add;
  Span op_span;
  ExprPtr left, right;  ///< after check: `conversion` of each says what it becomes first
};

/// What a call means; set by check.
enum class CalleeKind : std::uint8_t {
  unresolved,
  function,    ///< index into CheckedProgram::functions
  builtin,     ///< index into the table of stdlib/builtins.hpp
  structure,   ///< constructor of the structure type `Call::type`
  conversion,  ///< constructor of a named type: one argument, value unchanged
};
struct Call : Expr {
  Call() : Expr(ExprKind::Call) {}
  Identifier callee;
  struct Argument {
    std::optional<Identifier> keyword;
    ExprPtr value;
  };
  std::vector<Argument> arguments;                  ///< as written
  Annotations annotations;                          ///< `@prio=3 f(x)`
  CalleeKind callee_kind = CalleeKind::unresolved;  ///< set by check
  std::uint32_t callee_index = 0;                   ///< set by check
  /// Set by check: one for each formal in order (then the varargs): an argument of this call, or the default
  /// value of the formal. Points into this call or into the definition.
  std::vector<const Expr*> resolved_arguments;
  std::vector<TypeId> output_types;  ///< set by check; `type` is the first one, or void if there is none
  /// Set by check: the call is done for each element of the dense arrays among its arguments.
  bool is_lifted = false;
};

struct Index : Expr {
  Index() : Expr(ExprKind::Index) {}
  ExprPtr base;
  std::vector<ExprPtr> indices;  ///< more than one, or a Slice: dense arrays
};
/// `lo:hi:step`, each may be null (`:`); only inside Index.
struct Slice : Expr {
  Slice() : Expr(ExprKind::Slice) {}
  ExprPtr low, high, step;
};
struct Field : Expr {
  Field() : Expr(ExprKind::Field) {}
  ExprPtr base;
  Identifier name;
  std::uint32_t index = 0;  ///< set by check: which field of the structure
};
struct ArrayLiteral : Expr {
  ArrayLiteral() : Expr(ExprKind::ArrayLiteral) {}
  std::vector<ExprPtr> elements;
};
struct MapLiteral : Expr {
  MapLiteral() : Expr(ExprKind::MapLiteral) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct Range : Expr {
  Range() : Expr(ExprKind::Range) {}
  ExprPtr low, high, step;  ///< step may be null
};
struct Tuple : Expr {
  Tuple() : Expr(ExprKind::Tuple) {}
  std::vector<ExprPtr> elements;
};
/// `@f` in a command line: old spelling of the file variable's name.
struct FileName : Expr {
  FileName() : Expr(ExprKind::FileName) {}
  ExprPtr file;
};

}  // namespace raddle::ast
