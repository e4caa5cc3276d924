#pragma once
// Formats of printf, sprintf and `%` that are known before the script runs.
#include <vector>

#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// Reports what would surely fail at run time. Nothing if the format is not constant.
/// @param values  checked; one with an error type is not looked at
void check_format(Context& context, const ast::Expr& format, const std::vector<ast::Expr*>& values);

}  // namespace raddle::check_detail
