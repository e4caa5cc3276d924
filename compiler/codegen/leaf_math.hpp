#pragma once
// The functions of libm that compiled leaves call.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace raddle::codegen {

struct MathFunction {
  std::string_view name;  ///< in C
  const void* address;
};

/// All that function_to_llvm.cpp calls, of the C library this process runs with: the interpreter's.
std::span<const MathFunction> math_functions();

/// What the function is called in compiled code.
inline std::string math_symbol(std::string_view name) { return "raddle_math_" + std::string(name); }

}  // namespace raddle::codegen
