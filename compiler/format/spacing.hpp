#pragma once
// Where blanks go, and where lines may be broken. Private to compiler/format.
#include "compiler/format/structure.hpp"

namespace raddle::format {

/// Sets `spaced`, `place`, `precedence` and `depth` of all pieces.
void mark_spacing(Pieces& pieces, const Block& script);

}  // namespace raddle::format
