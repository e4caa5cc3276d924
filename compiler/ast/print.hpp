#pragma once
// The syntax tree as text, for `--emit=ast`.
#include <string>

#include "compiler/ast/nodes.hpp"

namespace raddle::ast {

/// A definition or statement a line, what belongs to it indented below; expressions in the language's own notation
/// with every operator in parentheses: `(a + (b * c))`.
std::string print(const Module& module);
/// One expression in the same notation.
std::string print(const Expr& expr);

}  // namespace raddle::ast
