#pragma once
// What the compiler has found out of launches side by side.
#include <array>
#include <cstdint>
#include <string_view>

namespace raddle::vm {

/// Why a launch is not part of the one before it in its block; the first of these that is so.
enum class Barrier : std::uint8_t {
  none,           ///< there is none before it, or it reads nothing that one before it writes
  communication,  ///< what is between them, or one of them, needs more than a point's own numbers
  space,          ///< they have not the same points
  points,         ///< it reads elements of other points
  order,          ///< it needs something else that depends on the one before
  size            ///< together they would have too many operations
};
inline constexpr std::array<std::string_view, 6> barrier_names = {"none",   "communication", "space",
                                                                  "points", "order",         "size"};

/// Of a loop that is a launch of its own.
struct Fusion {
  std::uint32_t loops = 0;  ///< of the script that it was made of; 0: it is part of a launch, or none
  Barrier barrier = Barrier::none;
};

}  // namespace raddle::vm
