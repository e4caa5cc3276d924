#pragma once
// Small arrays become their elements, in one function: a part of opt/bodies/small_arrays.hpp.
#include "compiler/opt/rewrite/known_values.hpp"

namespace raddle::opt {

/// Of an array that becomes its elements.
inline constexpr std::int64_t most_elements = 16;

/// How many elements an `array_new` makes. @return none: that is not known, it is none, or more than so many
std::optional<std::int64_t> small_count(const KnownValues& known, const ir::Op& array_new);

/// Arrays that are filled with each of a few keys once, by operations of the region that makes them, are made of the
/// elements in the end (`array_list`). @return true if something has changed
bool list_elements(const KnownValues& known, ir::Function& function);

/// Loops carry the elements of small dense arrays. @return likewise
bool carry_elements(const KnownValues& known, ir::Module& module, ir::Function& function);

/// What is read out of arrays and structures that were just made of variables are these variables. @return likewise
bool forward_elements(const ir::Module& module, ir::Function& function);

}  // namespace raddle::opt
