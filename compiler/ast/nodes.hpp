#pragma once
// The syntax tree of one source file. Made by compiler/parse; compiler/check fills in the fields marked
// "set by check" (types, resolved names) and nothing else changes a tree. Nodes own their children.
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
enum class StmtKind : std::uint8_t {
#define RADDLE_STMT(name) name,
#include "compiler/ast/nodes.def"
};

/// What becomes of a value once it is there.
enum class Conversion : std::uint8_t {
  none,
  to_float,     ///< an int; each element of a dense array of ints
  to_growing,   ///< a dense array of one dimension, read as a growing one
  to_string,    ///< a dense array, to be printed
  to_elements,  ///< a dense array, read as the growing array of all its elements
};

struct Expr {
  explicit Expr(ExprKind k) : kind(k) {}
  virtual ~Expr() = default;
  const ExprKind kind;
  Span span;
  TypeId type = TypeStore::error;  ///< set by check: before conversion; int literals used as float get float
  Conversion conversion = Conversion::none;  ///< set by check
};
using ExprPtr = std::unique_ptr<Expr>;

struct Stmt {
  explicit Stmt(StmtKind k) : kind(k) {}
  virtual ~Stmt() = default;
  const StmtKind kind;
  Span span;
};
using StmtPtr = std::unique_ptr<Stmt>;

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

// ---------------------------------------------------------------- statements

struct Block : Stmt {
  Block() : Stmt(StmtKind::Block) {}
  std::vector<StmtPtr> statements;
};
using BlockPtr = std::unique_ptr<Block>;

struct Declarator {
  Identifier name;
  std::vector<Dimension> dimensions;
  ExprPtr mapping;  ///< `<"path">`, or null
  ExprPtr value;    ///< or null
  Span span;
  VariableId variable = no_variable;  ///< set by check
};
struct Declaration : Stmt {
  Declaration() : Stmt(StmtKind::Declaration) {}
  Annotations annotations;  ///< @param, @result, ...
  std::string comment;      ///< the `//` comment lines right above, for @param's help; markers stripped
  TypeExpr type;
  std::vector<Declarator> declarators;
};
/// `t = v;`  `a, b = f(x);`  `(a, b) = f(x);`  `a, b = 1, "x";`
struct Assign : Stmt {
  Assign() : Stmt(StmtKind::Assign) {}
  Annotations annotations;       ///< before the statement
  std::vector<ExprPtr> targets;  ///< Name, Index, Field and combinations
  std::vector<ExprPtr> values;   ///< after check: 1, or as many as targets
  /// Set by check, parallel to targets: true where the assignment declares the variable.
  std::vector<bool> declares;
};
/// `b += v;`
struct Append : Stmt {
  Append() : Stmt(StmtKind::Append) {}
  ExprPtr target, value;
};
/// `u <incr> := e;`
struct Update : Stmt {
  Update() : Stmt(StmtKind::Update) {}
  Identifier target, mode;
  ExprPtr value;
  VariableId variable = no_variable;  ///< set by check
};
struct Evaluate : Stmt {
  Evaluate() : Stmt(StmtKind::Evaluate) {}
  ExprPtr expr;
};
struct If : Stmt {
  If() : Stmt(StmtKind::If) {}
  ExprPtr condition;  ///< boolean or int
  BlockPtr then_block;
  StmtPtr else_block;  ///< null, Block or If
};
struct Switch : Stmt {
  Switch() : Stmt(StmtKind::Switch) {}
  struct Case {
    std::optional<std::int64_t> label;  ///< none: default
    Span span;
    BlockPtr block;
  };
  ExprPtr value;
  std::vector<Case> cases;
};
struct Foreach : Stmt {
  Foreach() : Stmt(StmtKind::Foreach) {}
  Annotations annotations;
  Identifier value;
  std::optional<Identifier> key;
  ExprPtr iterable;  ///< a Range is not built as an array
  BlockPtr body;
  VariableId value_variable = no_variable, key_variable = no_variable;  ///< set by check
};
struct For : Stmt {
  For() : Stmt(StmtKind::For) {}
  struct Variable {
    std::optional<TypeExpr> type;  ///< none: declared outside, or by its initial value
    Identifier name;
    ExprPtr initial;
    ExprPtr update;                     ///< the value of its UpdateClause, moved here by check
    VariableId variable = no_variable;  ///< set by check: the variable inside the loop
    VariableId outer = no_variable;     ///< set by check: declared outside, gets the final value
  };
  struct UpdateClause {
    Identifier name;
    ExprPtr value;
  };
  Annotations annotations;
  std::vector<Variable> variables;
  ExprPtr condition;
  std::vector<UpdateClause> updates;  ///< as written; after check without their values
  BlockPtr body;
};
struct Iterate : Stmt {
  Iterate() : Stmt(StmtKind::Iterate) {}
  Annotations annotations;
  Identifier counter;
  BlockPtr body;
  ExprPtr until;                      ///< sees the body's variables
  VariableId variable = no_variable;  ///< set by check
};
struct Wait : Stmt {
  Wait() : Stmt(StmtKind::Wait) {}
  bool deep = false;
  std::vector<ExprPtr> awaited;
  BlockPtr body;
};
/// So many links of a chain nest in each other in what is made of it: its levels.
inline constexpr std::size_t nested_links = 100;
/// `s1 => s2 => ...`
struct Chain : Stmt {
  Chain() : Stmt(StmtKind::Chain) {}
  std::vector<StmtPtr> links;
};
struct Empty : Stmt {
  Empty() : Stmt(StmtKind::Empty) {}
};

// ---------------------------------------------------------------- definitions

struct Import {
  std::string module;  ///< "io", "a/b"
  Span span;
};
struct Pragma {
  Identifier name;
  std::vector<ExprPtr> arguments;
  Span span;
};

/// A parameter or an output of a function; a field of a structure.
struct Formal {
  TypeExpr type;
  Identifier name;
  std::vector<Dimension> dimensions;
  bool varargs = false;
  ExprPtr default_value;  ///< or null
  Span span;
  TypeId resolved_type = TypeStore::error;  ///< set by check
  VariableId variable = no_variable;        ///< set by check
  /// Set by check: of a dense input, for each dimension the variable that gets its extent, or no_variable.
  std::vector<VariableId> extents = {};
};

enum class TypeDefinitionKind : std::uint8_t { structure, alias, distinct, file_subtype };
struct TypeDefinition {
  TypeDefinitionKind kind = TypeDefinitionKind::structure;
  Identifier name;
  std::vector<Formal> fields;  ///< structure
  TypeExpr base;               ///< alias, distinct
  Span span;
};

enum class BodyKind : std::uint8_t {
  block,    ///< `{ statements }`
  command,  ///< app: a command line
  tcl,      ///< `"pkg" "version" ["proc"] [ [ "template" ] ];`
  library,  ///< @library="lib.so" declaration without body
};
enum class Redirect : std::uint8_t { stdin_, stdout_, stderr_ };
struct CommandLine {
  std::vector<ExprPtr> words;  ///< the first is the program
  struct Redirection {
    Redirect stream;
    ExprPtr file;
    Span span;
  };
  std::vector<Redirection> redirections;
};
struct FunctionDefinition {
  Annotations annotations;
  std::vector<Identifier> type_parameters;  ///< `<T>`
  std::vector<Formal> outputs, inputs;
  Identifier name;
  bool is_main = false;  ///< written `main { }` too
  BodyKind body_kind = BodyKind::block;
  BlockPtr block;
  CommandLine command;
  std::vector<std::string> tcl_package;  ///< package, version, proc
  std::optional<std::string> tcl_template;
  Span span;
};
struct GlobalConst {
  TypeExpr type;
  Identifier name;
  ExprPtr value;
  Span span;
  VariableId variable = no_variable;  ///< set by check
};

/// One source file. Definitions and top-level statements keep their order within their own list.
struct Module {
  std::uint32_t file = 0;  ///< index into the SourceMap
  std::vector<Import> imports;
  std::vector<Pragma> pragmas;
  std::vector<TypeDefinition> types;
  std::vector<std::unique_ptr<FunctionDefinition>> functions;
  std::vector<std::unique_ptr<GlobalConst>> constants;
  Block statements;
};

}  // namespace raddle::ast
