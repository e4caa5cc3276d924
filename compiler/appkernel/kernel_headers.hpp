#pragma once
#include <span>
#include <string_view>

namespace raddle::appkernel {

struct KernelHeader {
  std::string_view path;  ///< as `#include` has it
  std::string_view text;
};

/// What AppKernels include, and what these files include in turn.
std::span<const KernelHeader> kernel_headers();

}  // namespace raddle::appkernel
