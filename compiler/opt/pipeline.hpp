#pragma once
// The optimiser: a table of passes, from top to bottom.
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/ir/module.hpp"

namespace raddle::opt {

struct Options {
  int level = 2;                   ///< 0: only what later stages need; 2: everything
  std::set<std::string> disabled;  ///< names of passes
  std::string print_after;         ///< name of a pass; its result goes to stderr as IR text
#ifdef NDEBUG
  bool verify_each = false;
#else
  bool verify_each = true;
#endif
};

/// What `--fuse` leaves out: `off`, `tasks` or `kernels`, which is everything.
std::span<const std::string_view> passes_without(std::string_view fusion);

/// Names of all passes, in order.
std::span<const std::string_view> pass_names();

/// Runs the passes on `module`, which lowering made without errors.
/// Throws std::logic_error if a pass breaks a rule of the IR (with `verify_each`): an internal error.
void optimise(ir::Module& module, const Options& options, Diagnostics& diagnostics);

}  // namespace raddle::opt
