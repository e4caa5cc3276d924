#pragma once
// Which variables an expression reads, and for which of them it waits.
#include <functional>

#include "compiler/assignment/variable_use.hpp"

namespace raddle::check_detail {

/// Calls `found` for each read of a variable in `expr`.
void read_variables(const Context& context, const ast::Expr& expr, const std::function<void(VariableId, Read)>& found);

/// Whether a function of the script with a body, which may read other variables, is called in `expr`.
bool calls_a_body(const Context& context, const ast::Expr& expr);

/// The calls of such functions in `expr`.
std::vector<const ast::Call*> calls_of_bodies(const Context& context, const ast::Expr& expr);

/// The element that `A[key]` means, as far as it is known.
Step key_step(const ast::Expr& key);

/// Variables, elements and fields without which `expr` surely has no value. Of calls of a script's function with a
/// body the calls themselves. Not: arguments of these and of constructors, and elements of literals, whose values need
/// not be there.
std::vector<Awaited> awaited_variables(const Context& context, const ast::Expr& expr);

}  // namespace raddle::check_detail
