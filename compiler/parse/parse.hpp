#pragma once
// Script text -> syntax tree. This folder is the only one that includes ANTLR; its headers for others do not.
#include <cstdint>
#include <memory>

#include "compiler/ast/nodes.hpp"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/expanded_text.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle {

/// Deepest nesting of brackets, blocks and operators in a script; deeper ones are an error.
inline constexpr std::size_t max_nesting = 1000;

/// Reading stops after so many errors in one file.
inline constexpr std::size_t max_syntax_errors = 500;

/// Parses the file `file` of `sources`. Every syntax error that can be told from its follow-ups is reported.
/// @param expanded  the file's text after preprocessing, or null if that changed nothing
/// @return the module, never null; statements and definitions with errors are missing from it
std::unique_ptr<ast::Module> parse(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics,
                                   const ExpandedText* expanded = nullptr);

}  // namespace raddle
