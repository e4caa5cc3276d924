#pragma once
// Pieces to lines. Private to compiler/format.
#include <vector>

#include "compiler/format/page.hpp"
#include "compiler/format/pieces.hpp"

namespace raddle::format {

inline constexpr std::size_t indent_step = 2;        ///< of blocks and links behind `=>`
inline constexpr std::size_t continuation_step = 4;  ///< of the rest of a statement

/// True if the author's line break before `pieces[index]` stays. @param first  of the run that is written
bool keeps_break(const Pieces& pieces, Index first, Index index);

/// Columns that the pieces [first, last) take on one line; more than any line has if there is a newline in them.
std::size_t width_on_one_line(const Pieces& pieces, Index first, Index last);

/// Writes the pieces [first, last), beginning at the end of the page's last line, and breaks lines that are too long.
///
/// @param pieces  spaced and placed; texts of comments over several lines are changed
/// @param base    indentation of the statement
/// @return        indentation of the block behind the pieces, less one step
std::size_t write_pieces(Page& page, const Pieces& pieces, Index first, Index last, std::size_t base);

/// A block comment whose further lines are moved as its first line was.
std::string moved_comment(const Piece& comment, std::size_t column);

}  // namespace raddle::format
