#pragma once
// Statements and blocks of a script, found by their brackets and semicolons alone: preprocessor lines may stand
// anywhere. Private to compiler/format.
#include <memory>
#include <vector>

#include "compiler/format/pieces.hpp"

namespace raddle::format {

struct Block;

/// Part of a statement without blocks: `foreach i in A {`, `} else {`, `}`. It begins with the `}` of the block before.
struct Section {
  Index first, last;             ///< half-open
  std::unique_ptr<Block> block;  ///< behind it; null in the last section of a statement
};

enum class ItemKind : std::uint8_t {
  statement,  ///< or a definition, a field, a command line
  label,      ///< `case 1:`
  comment,    ///< between statements: one comment or line of the preprocessor
};

struct Item {
  ItemKind kind = ItemKind::statement;
  Index first, last;  ///< half-open; blocks included
  std::vector<Section> sections;
  bool has_block() const { return sections.size() > 1; }
};

enum class BlockKind : std::uint8_t { statements, cases, command };

struct Block {
  BlockKind kind = BlockKind::statements;
  Index open = no_piece, close = no_piece;  ///< the braces
  std::vector<Item> items;                  ///< never empty: `{}` is no block but two pieces
};

/// The whole script as a block without braces.
Block structure_of(const Pieces& pieces);

/// The next piece from `from` on that is no comment; `end` if there is none before it.
Index next_token(const Pieces& pieces, Index from, Index end);

/// Behind the annotations that begin at `from`: `@name`, `@name=value`. Their values end as the grammar says.
Index skip_annotations(const Pieces& pieces, Index from, Index end);

}  // namespace raddle::format
