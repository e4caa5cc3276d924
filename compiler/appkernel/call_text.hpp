#pragma once
#include <string>

#include "vm/program/program.hpp"

namespace raddle::appkernel {

/// What the compiler calls the place of the script's call in its messages.
inline constexpr const char* call_place = "what the script declares";

/// C++ that includes the kernel's file and calls the kernel with what AppKernelFunction gives it. Where the kernel is
/// declared otherwise than the script says, the compiler tells of a call that does not fit.
/// @param path  of the file, absolute
std::string call_text(const vm::ForeignFunction& function, const std::string& path);

}  // namespace raddle::appkernel
