#pragma once
// Values as a session shows them: short, and in a form that suits them.
#include <string>

#include "vm/value/value.hpp"

namespace raddle::tool::repl {

/// Numbers and strings as a script writes them; `[1, 2, 3]` for arrays with keys from 0 on, `{"a": 1}` for others;
/// arrays of structures as tables; of what is long the beginning, the end and the number of elements.
/// @param width  of the terminal, in columns
/// @return       without a newline at the end; several lines for what does not fit into one
std::string show_value(const vm::Value& value, std::size_t width);

}  // namespace raddle::tool::repl
