#include "compiler/ast/nodes.hpp"

#include "compiler/ast/precedence.hpp"

namespace raddle::ast {

const char* text_of(BinaryOp op) { return std::ranges::find(binary_operators, op, &BinaryOperator::op)->text; }

}  // namespace raddle::ast
