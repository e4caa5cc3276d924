#pragma once
// What a script says of where its loops run.
#include <cstdint>

namespace raddle::vm {

/// `@cpu`, `@gpu`. With `any` it is measured what is worth while: vm/device/device_rule.hpp.
enum class Placement : std::uint8_t { any, cpu, gpu };

}  // namespace raddle::vm
