#pragma once
// How the VM calls a native library function.
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "vm/value/value.hpp"

namespace raddle::vm {

/// Settings of the run and the place of the call, for the builtins that need them. Lives for the whole run;
/// read by all workers.
struct RunSettings {
  std::string script_path;             ///< argp(0)
  std::vector<std::string> arguments;  ///< of the script, as written after its name
  std::uint64_t seed = 0;
  unsigned workers = 1;
};

struct BuiltinCall {
  const RunSettings& settings;
  /// Identity of this call for counter-based random numbers: the same for every schedule (hash of the call's
  /// position and of the iterations around it).
  std::uint64_t stream;
};

/// @param arguments  all set; arrays are closed and all elements set, recursively (so blocking is never needed),
///                   but see the signature mark `&` in stdlib/builtins.def
/// @param results    one for each output, to be filled; file outputs come as leading arguments instead
/// @return           the text of the error for the user: it fails the results (design.md 7)
/// Threads: called from any worker, several at a time. May throw nothing.
using BuiltinFunction = std::expected<void, std::string> (*)(const BuiltinCall& call, std::span<const Value> arguments,
                                                             std::span<Value> results);

}  // namespace raddle::vm
