#pragma once
// Tokens as text, for `--emit=tokens`.
#include <cstdint>
#include <string>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/expanded_text.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle {

/// One token a line: `line:col KIND text`, newlines in a token's text written as `\n`. Lexical errors are reported.
/// @param expanded  as in parse()
std::string print_tokens(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics,
                         const ExpandedText* expanded = nullptr);

}  // namespace raddle
