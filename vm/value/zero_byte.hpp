#pragma once
#include <string_view>

namespace raddle::vm {

/// Functions of the C library and the kernel would take what stands before it for all of the text.
inline bool has_zero_byte(std::string_view text) { return text.contains('\0'); }

}  // namespace raddle::vm
