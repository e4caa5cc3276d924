#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "vm/kernel/kernel.hpp"

namespace raddle::vm {

/// What an operation gives for constants. From any thread.
/// @param op      no control operation
/// @param inputs  a word as in leaf_abi.hpp for each, two of an array
/// @return        none: it fails; of an assertion that holds 0
std::optional<std::int64_t> evaluate(KernelOp op, std::span<const std::int64_t> inputs);

}  // namespace raddle::vm
