#pragma once
// The syntax tree of one source file. Made by compiler/parse; compiler/check fills in the fields marked
// "set by check" (types, resolved names) and nothing else changes a tree. Nodes own their children.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/expressions.hpp"

namespace raddle::ast {

// ---------------------------------------------------------------- statements

enum class StmtKind : std::uint8_t {
#define RADDLE_STMT(name) name,
#include "compiler/ast/nodes.def"
};

struct Stmt {
  explicit Stmt(StmtKind k) : kind(k) {}
  virtual ~Stmt() = default;
  const StmtKind kind;
  Span span;
};
using StmtPtr = std::unique_ptr<Stmt>;

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
/// What `body` assigns counts once all of it is done; if anything in it fails, `otherwise` is done in its place.
struct Try : Stmt {
  Try() : Stmt(StmtKind::Try) {}
  BlockPtr body, otherwise;
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
  library,  ///< @library="lib.so", @kernel, @python or @r declaration without body
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
