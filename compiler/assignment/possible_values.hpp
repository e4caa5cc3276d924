#pragma once
// Whether facts about values can all be so.
#include "compiler/assignment/conditions.hpp"

namespace raddle::check_detail {

/// False only if there surely are no values of which all of these facts are so: `n < 3` and `n > 5`, `a < b` and `b <
/// a`.
bool is_possible(const Facts& facts);

}  // namespace raddle::check_detail
