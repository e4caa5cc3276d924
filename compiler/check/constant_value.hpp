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

/// The same number as it is in a type of 32 bits; empty if it is none, or too large.
/// @param target  int32 or float32
std::optional<ConstantValue> narrowed(const ConstantValue& value, TypeId target);

}  // namespace raddle::check_detail
