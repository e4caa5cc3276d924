#pragma once
#include <optional>
#include <span>

#include "compiler/ir/module.hpp"

namespace raddle::opt {

/// What an operation gives whose operands have these values, as kernels and the library compute it.
/// @param operands  of `op`, in its order  @return none: it fails, or is not known when compiling
std::optional<ir::Constant> fold_operation(const ir::Module& module, const ir::Function& function, const ir::Op& op,
                                           std::span<const ir::Constant* const> operands);

/// The same of an operation whose operands are constants. @return none also where one is none
std::optional<ir::Constant> fold_operation(const ir::Module& module, const ir::Function& function, const ir::Op& op);

}  // namespace raddle::opt
