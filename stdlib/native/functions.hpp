#pragma once
// Declarations of all native library functions, made from the list.
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "vm/program/builtin_abi.hpp"

namespace raddle::stdlib::native {

using Result = std::expected<void, std::string>;  // vm::BuiltinFunction says what comes in and goes out
using Call = const vm::BuiltinCall&;
using Arguments = std::span<const vm::Value>;
using Results = std::span<vm::Value>;

#define RADDLE_BUILTIN(name, module, signature, effect, function, summary, example) \
  Result function(Call, Arguments, Results);
#include "stdlib/builtins.def"
#undef RADDLE_BUILTIN

/// Ends a function with its only output; functions without output give a void value, that callers may leave out.
inline Result give(Results results, vm::Value value) {
  if (!results.empty()) results[0] = std::move(value);
  return {};
}
inline Result give_void(Results results) { return give(results, vm::Value::of_void()); }
/// Prints to where the run prints. @param text  should end a line
void print(const vm::RunSettings& settings, std::string_view text);
/// Ends a call with a void value after so many seconds; `before` is called then.
Result end_after(Call call, double seconds, std::function<void()> before);
inline Result fail(std::string text) { return std::unexpected(std::move(text)); }

}  // namespace raddle::stdlib::native
