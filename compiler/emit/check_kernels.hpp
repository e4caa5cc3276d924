#pragma once
#include "compiler/ir/module.hpp"

namespace raddle::emit {

/// For tests: the kernels of a module keep the rules of kernels, and are the same after they were written and read, as
/// text and as bytes. Throws std::logic_error if not: an internal error.
void check_kernels(const ir::Module& module);

}  // namespace raddle::emit
