#pragma once
// The precedence table: the only place that knows which operator binds tighter. Private to compiler/parse.
#include <cstdint>
#include <utility>

#include "RaddleLexer.h"
#include "compiler/ast/nodes.hpp"

namespace raddle {

struct BinaryOperator {
  std::uint32_t token;
  ast::BinaryOp op;
  int level;  ///< higher binds tighter; all associate to the left
};

inline constexpr BinaryOperator precedence_table[] = {
    {RaddleLexer::OR, ast::BinaryOp::or_, 1},          {RaddleLexer::AND, ast::BinaryOp::and_, 2},
    {RaddleLexer::EQ, ast::BinaryOp::eq, 3},           {RaddleLexer::NE, ast::BinaryOp::ne, 3},
    {RaddleLexer::LT, ast::BinaryOp::lt, 4},           {RaddleLexer::LE, ast::BinaryOp::le, 4},
    {RaddleLexer::GT, ast::BinaryOp::gt, 4},           {RaddleLexer::GE, ast::BinaryOp::ge, 4},
    {RaddleLexer::PLUS, ast::BinaryOp::add, 5},        {RaddleLexer::MINUS, ast::BinaryOp::sub, 5},
    {RaddleLexer::TIMES, ast::BinaryOp::mul, 6},       {RaddleLexer::DIVIDE, ast::BinaryOp::div, 6},
    {RaddleLexer::INT_DIVIDE, ast::BinaryOp::idiv, 6}, {RaddleLexer::REMAINDER, ast::BinaryOp::mod, 6},
    {RaddleLexer::FORMAT, ast::BinaryOp::format, 6},   {RaddleLexer::POWER, ast::BinaryOp::pow, 7},
};

/// @param token  the type of one of the operator tokens of rule `expression`
inline const BinaryOperator& binary_operator(std::size_t token) {
  for (const BinaryOperator& entry : precedence_table)
    if (entry.token == token) return entry;
  std::unreachable();
}

}  // namespace raddle
