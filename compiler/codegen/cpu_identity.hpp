#pragma once
#include <string>

namespace raddle::codegen {

/// Differs between CPUs for which LLVM may make different code: maker, model, what they and the system offer.
std::string cpu_identity();

}  // namespace raddle::codegen
