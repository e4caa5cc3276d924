#pragma once
// Help for calls that no function takes, but that other languages know; for growing arrays where dense ones are meant.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// `import a;` or `import b;`, in quotes. @param modules  not empty
std::string imports_text(const std::vector<std::string>& modules);

/// `zeros([3, 3])`, `full((3, 3), 0.0)`: the same call with the ints of that list as its last arguments.
/// @return  empty if no library function of that name takes them so
std::string spread_call(const Context& context, const std::vector<Signature>& candidates, const ast::Call& call);
/// How a growing array of numbers becomes a dense one, or is declared as one; empty for any other expression.
std::string dense_help(const Context& context, const ast::Expr& growing);
/// Whether one of `candidates` can be called with `value` alone.
bool takes_alone(const Context& context, const std::vector<Signature>& candidates, const ast::Expr& value);
/// Says in `diagnostic` what is meant by a call that none of `candidates` takes, where that is known.
void explain_call(const Context& context, const std::vector<Signature>& candidates, const ast::Call& call,
                  Diagnostic& diagnostic);

}  // namespace raddle::check_detail
