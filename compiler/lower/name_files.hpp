#pragma once
// Which calls of `filename` may give an unmapped file its name.
#include "compiler/ir/module.hpp"

namespace raddle::lowering {

/// Marks calls of functions that use a file's name only (Op::number): those whose file is made in the calling function,
/// or is one of its outputs, or an input for which every call gives such a file; and which never becomes another name
/// of an existing file, there or in functions that it is an output of. Such a file is written where its temporary is,
/// which can be named before; an app may need that name to write it. All other calls wait until the file has its name.
/// A url never has a temporary.
void name_files(ir::Module& module);

}  // namespace raddle::lowering
