#pragma once
// Findings as JSON.
#include <string>

#include "compiler/diagnostics/diagnostics.hpp"

namespace raddle::tool {

/// A list, in the order of their places.
std::string diagnostics_json(Diagnostics& diagnostics, const SourceMap& sources);

}  // namespace raddle::tool
