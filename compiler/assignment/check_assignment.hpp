#pragma once
// Single assignment: every variable that is read is assigned, and once. Fills Variable::is_read and
// Variable::written_by_element.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After all bodies are checked. Nothing is said about variables in `context.silenced` or of the error type.
void check_assignment(Context& context);

}  // namespace raddle::check_detail
