#pragma once
// Kernels as bytes: for the code generator, the cache of machine code, other machines.
#include <expected>
#include <string>
#include <string_view>

#include "vm/kernel/kernel.hpp"
#include "vm/value/hash.hpp"

namespace raddle::vm {

/// Equal groups have equal bytes, and no others have. Little-endian on all machines.
std::string write_kernels(const KernelGroup& kernels);

/// Of a tool of the same version only: bytes begin with the number of the form.
/// @param bytes  any
/// @return       verified; or why not
std::expected<KernelGroup, std::string> read_kernel_bytes(std::string_view bytes);

/// Of its bytes.
Hash128 hash_of(const KernelGroup& kernels);

}  // namespace raddle::vm
