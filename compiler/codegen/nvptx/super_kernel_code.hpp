#pragma once
// The super kernel without what computes points: gpu/superkernel/kernel.cpp as LLVM's bitcode, made with this build.
#include <string_view>

namespace raddle::codegen {

std::string_view super_kernel_code();

}  // namespace raddle::codegen
