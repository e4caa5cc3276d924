#pragma once
// The mathematics of vm/math as LLVM functions.
#include <llvm/IR/Module.h>

#include <string_view>

namespace raddle::codegen {

/// The function of that name in functions.def, or, with `_32` behind it, in functions32.def; emits it into the module
/// if it is not there. Internal, so it may be inlined; it reads constants only.
/// @param number  double, or a vector of it; of a float32 form float
llvm::Function* math_function(llvm::Module& module, std::string_view name, llvm::Type* number);

}  // namespace raddle::codegen
