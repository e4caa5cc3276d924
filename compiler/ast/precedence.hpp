#pragma once
// The precedence table: the only place that knows which operator binds tighter.
#include <algorithm>
#include <string_view>

#include "compiler/ast/nodes.hpp"

namespace raddle::ast {

struct BinaryOperator {
  const char* text;
  BinaryOp op;
  std::uint8_t level;  ///< higher binds tighter, from 1; all associate to the left
};

inline constexpr BinaryOperator binary_operators[] = {
    {"||", BinaryOp::or_, 1},  {"&&", BinaryOp::and_, 2}, {"==", BinaryOp::eq, 3},    {"!=", BinaryOp::ne, 3},
    {"<", BinaryOp::lt, 4},    {"<=", BinaryOp::le, 4},   {">", BinaryOp::gt, 4},     {">=", BinaryOp::ge, 4},
    {"+", BinaryOp::add, 5},   {"-", BinaryOp::sub, 5},   {"*", BinaryOp::mul, 6},    {"/", BinaryOp::div, 6},
    {"%/", BinaryOp::idiv, 6}, {"%%", BinaryOp::mod, 6},  {"%", BinaryOp::format, 6}, {"**", BinaryOp::pow, 7},
};

/// Null if the text is no binary operator.
inline const BinaryOperator* find_binary_operator(std::string_view text) {
  const auto* const found = std::ranges::find(binary_operators, text, &BinaryOperator::text);
  return found == std::ranges::end(binary_operators) ? nullptr : found;
}

}  // namespace raddle::ast
