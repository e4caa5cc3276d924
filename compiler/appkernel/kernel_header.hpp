#pragma once
#include <string_view>

namespace raddle::appkernel {

/// The text of raddle_kernel.h, which AppKernels include.
std::string_view kernel_header();

}  // namespace raddle::appkernel
