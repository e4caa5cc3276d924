#pragma once
// Texts that are equal only if the values of two expressions are.
#include <optional>
#include <string>

#include "compiler/check/constant_value.hpp"

namespace raddle::check_detail {

/// As a script has it. Equal numbers have equal texts, also those of different types.
std::string text_of(const ConstantValue& value);

/// Equal texts mean equal values, in one activation of a block: variables are named by their ids, and each keeps its
/// value. None for what may differ from one time to the next, as calls of functions that are not pure.
std::optional<std::string> text_of(const Context& context, const ast::Expr& expr);

}  // namespace raddle::check_detail
