#pragma once
#include <vector>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// Adds a place, and the calls in whose places its text stands, innermost first: Program::inlined_texts.
void add_written(const Program& program, Place place, std::vector<Place>& chain);

}  // namespace raddle::vm
