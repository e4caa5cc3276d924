#pragma once
// Kernels as text, which reads back.
#include <expected>
#include <string>
#include <string_view>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// Note [kernel text].
///     kernel 3 "norm" at 0:10-80 (%0: float[], %1: int) -> (%10) {
///       const %2: int = 0
///       const %3: float = 0.0
///       loop (%4: int, %5: float) = (%2, %3) at 0:20-60 {
///         %6: boolean = lt_int %4 %1 at 0:30-35
///       } while %6 {
///         %7: float = get_float %0 %4 at 0:40-44
///         ...
///       } next (%8, %9)
///       %10: float = sqrt %5 at 0:70-78
///     }
/// A loop with test_after has `until` in place of `while`. A branch: `if %6 at 0:1-2 { ... } else { ... }`. Calls:
/// `(%1: int, %2: float) = call 7 (%3, %4) at 0:1-2`, the number of a kernel; `%1: float = foreign "libm.so.6" "cos" 4
/// (%2) at 0:1-2`, the number of a function or `-`. Floats that are no numbers, and infinity, are written as bits.
/// @param id  the number of the kernel
std::string print_kernel(const Kernel& kernel, KernelId id);

struct NumberedKernel {
  KernelId id;
  Kernel kernel;
};
/// Of any number of kernels. @return why not, with the line
std::expected<std::vector<NumberedKernel>, std::string> read_kernels(std::string_view text);

}  // namespace raddle::vm
