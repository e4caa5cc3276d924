#pragma once
// Tokens as text, for `--emit=tokens`.
#include <cstdint>
#include <string>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle {

/// One token a line: `line:col KIND text`, newlines in a token's text written as `\n`. Lexical errors are reported.
std::string print_tokens(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace raddle
