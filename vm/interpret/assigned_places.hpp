#pragma once
// Which two places of the script have assigned the same element of an array.
#include <optional>

#include "vm/interpret/frame.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

struct AssignedPlaces {
  Place place;
  std::optional<Place> other;  ///< nothing: it may be one of several, or the same one
};

/// Which of two assignments comes second is left open: the one that stands further down is said to be it.
/// @param frame  where an operation assigns what is there already  @param place  the operation's
AssignedPlaces assigned_places(const Program& program, Frame& frame, Place place, const Value& key);

}  // namespace raddle::vm
