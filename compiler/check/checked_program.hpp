#pragma once
// What check hands to lower: the trees with their types and names resolved, and the tables they point into.
// Made only by check(). Without errors in the sink every Expr has a type and every name is resolved.
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ast/nodes.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/types/type_store.hpp"

namespace raddle {

enum class VariableRole : std::uint8_t {
  local,     ///< declared in a function body, main included, or in a nested block of top-level statements
  global,    ///< declared at top level, outside any block: functions may read it
  constant,  ///< `global const`: `constant` holds the literal
  input,
  output,
  loop,  ///< value, key or counter of a loop; variables of a `for`
};

struct Variable {
  std::string name;
  TypeId type = TypeStore::error;
  Span span;  ///< of the name where it is declared
  VariableRole role = VariableRole::local;
  const ast::Expr* constant = nullptr;
  /// Arrays, bags and structures: true if elements or fields are assigned one by one (then the variable is
  /// created where it is declared); false if it is assigned whole.
  bool written_by_element = false;
  bool has_no_elements = false;  ///< a dense array, of which one extent is written as 0: nothing need be assigned
  /// Of the dense arrays that it is or holds, where they stand in a type's definition or in `bag<float[2]>`; -1: any.
  std::vector<std::int64_t> fixed_extents = {};
  bool is_read = false;
  bool replaces_file = false;  ///< a file whose path another variable has, too, which is written before
  /// A file: calls of the function that declares it follow each other in one call of the function that many levels up.
  std::uint32_t ordered_levels = 0;
};

struct CheckedFunction {
  const ast::FunctionDefinition* definition = nullptr;
  std::string name;  ///< as in the script; overloads share it
  std::vector<ast::VariableId> inputs, outputs;
  bool is_app = false;
  bool uses_rank = false;   ///< code in another language is run by a rank, which a call's `@location` tells
  bool is_generic = false;  ///< in Tcl, with type variables, unions or varargs: what its formals are is the call's
};

/// `@param float T = 300.0;`
struct ScriptParameter {
  ast::VariableId variable;
  const ast::Expr* default_value;
  std::string comment;
};

/// `@result float e = f(T);`
struct ScriptResult {
  ast::VariableId variable;
};

/// A variable from outside of a `try` that its first block assigns.
struct AttemptedVariable {
  ast::VariableId variable;
  std::size_t depth = 0;  ///< 0: whole; else so many indices stand at each element that is assigned
  /// Nothing else assigns elements of it, and the block reads it: it is made there, and handed over by elements.
  bool is_made_there = false;
};

struct CheckedProgram {
  std::vector<std::unique_ptr<ast::Module>> modules;  ///< imported ones first, the main one last
  TypeStore types;
  std::deque<Variable> variables;         ///< indexed by ast::VariableId
  std::deque<CheckedFunction> functions;  ///< indexed by Call::callee_index
  std::vector<ScriptParameter> parameters;
  std::vector<ScriptResult> results;
  /// Branches that make a variable in parts where another one assigns it whole: see WriteSet::collect_parts. And blocks
  /// of `try` that read what they make.
  std::unordered_map<const ast::Stmt*, std::vector<ast::VariableId>> collected;
  std::unordered_map<const ast::Stmt*, std::vector<AttemptedVariable>> attempts;  ///< by `try`, in order of variables
  std::vector<std::string> arguments_read;                                        ///< names by which `argv` is called
  std::deque<ast::ExprPtr> builtin_defaults;  ///< literals that Call::resolved_arguments of builtins point to
  /// The function `main` if the script has one: called once besides the top-level statements.
  std::optional<std::uint32_t> main_function;
};

}  // namespace raddle
