#pragma once
// Code in Python or R that code in Tcl asks to run.
#include <expected>
#include <string>

#include "vm/value/rank_wish.hpp"

namespace raddle::vm {

class Outside;  // vm/external/outside.hpp

struct CodeRequest {
  std::string function;  ///< of the library: python, python_persist, R
  std::string code, expression;
  bool exceptions_are_errors = true;
  RankWish rank = {};
};

/// Waits for the end. @return what the expression is, or the text of an error
using RunCode = std::expected<std::string, std::string> (*)(Outside& outside, const CodeRequest& request);

}  // namespace raddle::vm
