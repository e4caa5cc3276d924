#pragma once
// The VM program as text, for `--emit=vm` and for tests.
#include <string>

#include "vm/program/program.hpp"

namespace raddle::vm {

/// One paragraph for each body: its frame, then regions, strands with what they await, instructions. Behind a `foreach`
/// that is one: its index launch, with what it reads and writes, and its nest.
/// Variables read `name.slot`, with `^` for each body outwards and `*` for outputs; constants as their value.
std::string disassemble(const Program& program);

}  // namespace raddle::vm
