#pragma once
// How the VM calls a native library function.
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/value/rank_wish.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Settings of the run and the place of the call, for the builtins that need them. Lives for the whole run;
/// read by all workers.
struct RunSettings {
  std::string script_path;             ///< argp(0)
  std::vector<std::string> arguments;  ///< of the script, as written after its name
  std::uint64_t seed = 0;
  unsigned workers = 1;
  bool asserts = true;  ///< false: assertions always hold
  /// Takes what printf and its like print, from any worker; empty: standard output
  std::function<void(std::string_view)> print = {};
};

/// How a call that ends later has ended: with a value for each output, or with the text of its error.
using BuiltinOutcome = std::expected<std::vector<Value>, std::string>;
/// @param rank  that has answered: what follows on the call goes there, too, where that matters; RankWish::any: none
using BuiltinCompletion = std::function<void(BuiltinOutcome outcome, std::int32_t rank)>;

class Outside;  // vm/external/outside.hpp

/// What the VM lends to functions of effect `waits` (stdlib/builtins.hpp).
class BuiltinHost {
 public:
  /// The call ends later: its worker goes on with other work, and the function's return value and `results` are not
  /// looked at. At most once in a call.
  /// @return  to be called once, from any thread, perhaps before the function has returned; the arguments may be gone
  virtual BuiltinCompletion end_later() = 0;
  virtual Outside& outside() = 0;
  virtual std::int32_t rank() const = 0;  ///< that makes the call

 protected:
  ~BuiltinHost() = default;
};

struct BuiltinCall {
  const RunSettings& settings;
  /// Identity of this call for counter-based random numbers: the same for every schedule (hash of the call's
  /// position and of the iterations around it).
  std::uint64_t stream;
  BuiltinHost* host = nullptr;  ///< there for functions of effect `waits`
  RankWish rank = {};           ///< of the call's `@location`, else of what it follows on
};

/// @param arguments  all set; arrays are closed and all elements set, recursively (so blocking is never needed),
///                   but see the signature mark `&` in stdlib/builtins.def
/// @param results    one for each output, to be filled; file outputs come as leading arguments instead
/// @return           the text of the error for the user: it fails the results
/// Threads: called from any worker, several at a time. May throw nothing.
using BuiltinFunction = std::expected<void, std::string> (*)(const BuiltinCall& call, std::span<const Value> arguments,
                                                             std::span<Value> results);

}  // namespace raddle::vm
