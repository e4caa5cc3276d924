#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// Shares equal pure operations of a region and of the regions around it.
///   before   %1 = mul %x, %x         after   %1 = mul %x, %x
///            %2 = mul %x, %x                 %y = add %1, %1
///            %y = add %1, %2
/// Only temporaries disappear: a variable of the script keeps its name for messages.
void share_common_subexpressions(ir::Module& module);

/// What a loop's iteration reads of an element that it writes itself is what it writes there: so the loop reads nothing
/// of what it writes, and may be an index launch.
///   before   array_insert %y, %i, %v        after   array_insert %y, %i, %v
///            %1 = array_get %y, %i                  %1 = copy %v
void forward_written_elements(ir::Module& module);

}  // namespace raddle::opt
