#pragma once
// The tables that all parts of check share. Names are global: every module sees every other's definitions.
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/check/check.hpp"
#include "compiler/check/signature.hpp"

namespace raddle::check_detail {

using ast::VariableId;

struct TypeEntry {
  TypeId type = TypeStore::error;
  Span span;
  bool is_alias = false;                   ///< no constructor of that name
  std::vector<std::int64_t> extents = {};  ///< of an alias: as of StructType::Field
};

/// A call in a body, by which what its callee does is also done there.
struct NotedCall {
  const ast::FunctionDefinition* caller = nullptr;  ///< null: top level
  const ast::FunctionDefinition* callee = nullptr;  ///< null: of the library
  bool uses_rank = false;                           ///< code in another language, which a rank runs
};

/// `input("res.txt")`: a file is looked for by a name that is known.
struct NotedPath {
  const ast::Expr* path = nullptr;
  std::string call;  ///< of which function
  Span span;
  bool is_in_wait = false;
  const ast::FunctionDefinition* function = nullptr;  ///< around the call; null: top level
};

struct Context {
  CheckedProgram& program;
  const SourceMap& sources;
  Diagnostics& diagnostics;
  const CheckOptions& options;

  std::unordered_map<std::string, TypeEntry> types = {};
  /// Overloads by name; those of scripts before builtins.
  std::unordered_map<std::string, std::vector<Signature>> callables = {};
  /// Functions of modules of the library that nobody imports: name -> modules.
  std::unordered_map<std::string, std::vector<std::string>> not_imported = {};
  /// Functions of imported modules of the library, those too that are not declared as no text names them.
  std::unordered_set<std::string> left_out = {};
  /// Variables declared at top level so far, and all `global const`.
  std::unordered_map<std::string, VariableId> globals = {};
  /// Of modules of the library, those whose names the script gives to others: functions of the library mean these.
  std::unordered_map<std::string, VariableId> globals_of_library = {};
  /// Variables about which something was reported: further findings would have the same cause.
  std::unordered_set<VariableId> silenced = {};
  /// Variables of blocks that are made by an assignment, by those of the same name that are declared behind the block,
  /// outside of it.
  std::unordered_map<VariableId, VariableId> made_before = {};
  /// Variables of loops over a range of floats that is one for a `/` of ints: where that is.
  std::unordered_map<VariableId, Span> quotients = {};
  /// Names in `argv("name")`, as far as they are known, and where they are.
  std::vector<std::pair<std::string, Span>> arguments_read = {};
  /// Outside of blocks that wait for something.
  std::vector<NotedPath> paths_looked_at = {};
  std::uint32_t waits = 0;  ///< such blocks around what is checked
  /// Calls of the script's functions, and of what leaves something behind.
  std::vector<NotedCall> calls = {};
  const ast::FunctionDefinition* function = nullptr;  ///< whose body is checked; null: top level
  bool maps_files_in_functions = false;
  std::uint32_t main_file = 0;

  TypeStore& store() { return program.types; }
  const TypeStore& store() const { return program.types; }
  std::string name(TypeId type) const { return program.types.name(type); }
  /// Names are compared with all others for the first errors only: the time it takes grows with both.
  bool looks_for_near_names() const { return diagnostics.error_count() <= 100; }
  bool is_of_library(Span span) const { return sources.at(span.file).is_of_library(); }
  /// What a script defines and what the library does may have one name: the library's own sources mean its own.
  bool is_hidden(const Signature& callable, Span from) const {
    const bool is_in_text = callable.kind == ast::CalleeKind::function && callable.span.end != 0;
    return is_in_text && is_of_library(from) && !is_of_library(callable.span);
  }
  Variable& variable(VariableId id) { return program.variables[id]; }
  /// A top-level variable that a piece of a session has from an earlier one.
  bool is_of_earlier_piece(VariableId id) const {
    const Variable& found = program.variables[id];
    return options.piece != nullptr && found.role == VariableRole::global && found.span.file != main_file;
  }
  /// One of them that has its value, or a piece that will give it one.
  bool is_settled(VariableId id) const {
    return is_of_earlier_piece(id) && options.piece->settled.contains(program.variables[id].name);
  }
  VariableId add_variable(const ast::Identifier& name, TypeId type, VariableRole role) {
    program.variables.push_back({.name = name.text, .type = type, .span = name.span, .role = role});
    return static_cast<VariableId>(program.variables.size() - 1);
  }
};

/// Adds the help "did you mean `x`?" where a candidate is near.
void suggest(Diagnostic& diagnostic, std::string_view name, const std::vector<std::string>& candidates);

}  // namespace raddle::check_detail
