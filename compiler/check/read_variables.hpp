#pragma once
// Which variables an expression reads, and for which of them it waits.
#include <functional>

#include "compiler/check/variable_use.hpp"

namespace raddle::check_detail {

/// Calls `found` for each read of a variable in `expr`.
void read_variables(const Context& context, const ast::Expr& expr, const std::function<void(VariableId, Read)>& found);

struct Awaited {
  VariableId variable;
  Span span;
};
/// The variables without which `expr` surely has no value: scalars anywhere in it, arrays and structures that are
/// used as a whole (not `A[i]`) other than as the argument of a script's function, which may look at a part only.
std::vector<Awaited> awaited_variables(const Context& context, const ast::Expr& expr);

}  // namespace raddle::check_detail
