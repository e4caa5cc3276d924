#pragma once
// What is said of parts of a program: in the words, and at the places, of the user's script, not of the library.
#include <span>
#include <string>

#include "compiler/source/source_buffer.hpp"
#include "vm/device/device_use.hpp"
#include "vm/value/failure.hpp"

namespace raddle::tool {

inline Span span_of(const vm::Place& place) { return {place.file, place.begin, place.end}; }

/// Of a place in the library, and the calls around it: the call in the script. As it is if there is none.
vm::CallPlace place_in_script(const SourceMap& sources, vm::Place place, std::span<const vm::Place> calls);

struct ObstacleText {
  std::string text;
  std::string place;  ///< "file:line:column" of what the text is about; "": it is not needed, or not known
  std::string with_place() const { return place.empty() ? text : text + " (" + place + ")"; }
};
/// @param around  the loop or call that stays on workers  @pre there is an obstacle
ObstacleText text_of_obstacle(const SourceMap& sources, const vm::Obstacle& why, const vm::CallPlace& around);

}  // namespace raddle::tool
