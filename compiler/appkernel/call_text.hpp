#pragma once
#include <string>

#include "vm/program/program.hpp"

namespace raddle::appkernel {

/// The function that the text defines for workers: a vm::AppKernelCode. Messages about crashes name it.
std::string call_symbol(const vm::ForeignFunction& function);
/// Likewise, compiled with RADDLE_LANES: a vm::AppKernelCode, that checks.
std::string check_symbol(const vm::ForeignFunction& function);
/// What the compiler calls the place of the script's call in its messages.
inline constexpr const char* call_place = "what the script declares";

/// C++ that includes the kernel's file and calls the kernel with what AppKernelFunction gives it; compiled for GPUs it
/// has vm::calls_kernel_name in place of the function for workers. Where the kernel is declared otherwise than the
/// script says, the compiler tells of a call that does not fit.
/// @param path  of the file as `#include` is to have it, without `"`, `\\` and line ends
std::string call_text(const vm::ForeignFunction& function, const std::string& path);

}  // namespace raddle::appkernel
