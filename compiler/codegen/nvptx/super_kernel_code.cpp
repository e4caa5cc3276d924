#include "compiler/codegen/nvptx/super_kernel_code.hpp"

// RADDLE_SUPER_KERNEL_CODE: the file, as CMake has it made.
asm(R"(
  .pushsection .rodata
  .hidden raddle_super_kernel_code, raddle_super_kernel_code_end
  .global raddle_super_kernel_code, raddle_super_kernel_code_end
raddle_super_kernel_code:
  .incbin ")" RADDLE_SUPER_KERNEL_CODE R"("
raddle_super_kernel_code_end:
  .popsection
)");

extern "C" {
extern const char raddle_super_kernel_code[] __attribute__((visibility("hidden")));
extern const char raddle_super_kernel_code_end[] __attribute__((visibility("hidden")));
}

namespace raddle::codegen {

std::string_view super_kernel_code() {
  return {raddle_super_kernel_code, static_cast<std::size_t>(raddle_super_kernel_code_end - raddle_super_kernel_code)};
}

}  // namespace raddle::codegen
