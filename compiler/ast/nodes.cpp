#include "compiler/ast/nodes.hpp"

namespace raddle::ast {

const char* text_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::or_: return "||";
    case BinaryOp::and_: return "&&";
    case BinaryOp::eq: return "==";
    case BinaryOp::ne: return "!=";
    case BinaryOp::lt: return "<";
    case BinaryOp::le: return "<=";
    case BinaryOp::gt: return ">";
    case BinaryOp::ge: return ">=";
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::mul: return "*";
    case BinaryOp::div: return "/";
    case BinaryOp::idiv: return "%/";
    case BinaryOp::mod: return "%%";
    case BinaryOp::format: return "%";
    case BinaryOp::pow: return "**";
  }
  return "?";
}

}  // namespace raddle::ast
