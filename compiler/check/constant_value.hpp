#pragma once
// Values that are known before a script runs: of literals, constants, and operators on them.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "compiler/check/context.hpp"

namespace raddle::check_detail {

using ConstantValue = std::variant<std::int64_t, double, bool, std::string>;

/// @param expr  checked
/// @return      empty if the value is not known, or would fail to be computed
std::optional<ConstantValue> constant_value(const Context& context, const ast::Expr& expr);

}  // namespace raddle::check_detail
