#pragma once
// Updateables that are read where nothing waits for their updates.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

/// After all bodies are checked. Warns of reads of which it is sure: the statement runs as soon as what is around the
/// declaration does, and all that it reads besides are constants.
void report_early_reads(Context& context);

}  // namespace raddle::check_detail
