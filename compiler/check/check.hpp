#pragma once
// Names, types, overloads, single assignment: the trees of all modules in, a CheckedProgram out.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/check/checked_program.hpp"

namespace raddle {

/// The main module is a piece of an interactive session. What was declared in earlier ones stands before it, in texts
/// of other files: functions as they are, variables without values. Of its top-level variables, those that it writes
/// become CheckedProgram::results, all others `parameters`: also what it only declares, as a later piece may write
/// that.
struct SessionPiece {
  /// Earlier variables that have got their values, or will get them. To assign one of them is to declare a new one.
  std::set<std::string> settled;
  /// Files of imported modules whose statements an earlier piece has run.
  std::set<std::uint32_t> modules_run = {};
};

struct CheckOptions {
  const SessionPiece* piece = nullptr;  ///< null: a script
  /// A module is missing: a name that nothing declares may be of it, which says nothing new.
  bool is_module_missing = false;
};

/// @param modules      parsed without errors; imported ones before those that import them, the main one last
/// @param diagnostics  gets everything that is wrong, in one go; errors there mean that the result is partial
CheckedProgram check(std::vector<std::unique_ptr<ast::Module>> modules, const SourceMap& sources,
                     Diagnostics& diagnostics, const CheckOptions& options);

}  // namespace raddle
