#pragma once
// Names, types, overloads, single assignment: the trees of all modules in, a CheckedProgram out.
#include <memory>
#include <vector>

#include "compiler/check/checked_program.hpp"

namespace raddle {

struct CheckOptions {
  /// Off in an interactive session, where a later line may still use what this one declares.
  bool warn_unused = true;
  /// A module is missing: a name that nothing declares may be of it, which says nothing new.
  bool is_module_missing = false;
};

/// @param modules      parsed without errors; imported ones before those that import them, the main one last
/// @param diagnostics  gets everything that is wrong, in one go; errors there mean that the result is partial
CheckedProgram check(std::vector<std::unique_ptr<ast::Module>> modules, const SourceMap& sources,
                     Diagnostics& diagnostics, const CheckOptions& options);

}  // namespace raddle
