#pragma once
// The condition of `#if` and `#elif`. Private to compiler/preprocess.
#include <expected>
#include <string>
#include <vector>

#include "compiler/preprocess/scan.hpp"

namespace raddle::preprocessor {

struct ConditionFault {
  Span at;
  std::string message;
};

/// Value of an integer expression with C's operators; names count as 0, `true` as 1.
/// @param tokens  macros and `defined` are replaced already
/// @param at      the directive, for a missing operand
std::expected<bool, ConditionFault> evaluate_condition(const std::vector<Token>& tokens, Span at);

}  // namespace raddle::preprocessor
