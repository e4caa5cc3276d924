#pragma once
// What to write instead of what users of other languages type. Private to compiler/parse.
#include <string>

#include "compiler/parse/token_list.hpp"

namespace raddle {

/// A token that can not stand where it is.
struct Unexpected {
  const SourceToken& found;
  std::size_t start;  ///< index of the first token of the statement
  std::size_t rule;   ///< of the grammar, where it was found
  bool closing_due;   ///< a `)` could stand there
};

/// @return help, or "" if the mistake is none that is known
std::string hint_for_unexpected(TokenList& tokens, const Unexpected& at);

/// Help for a token that is no word of a command line.
std::string hint_for_word(TokenList& tokens, const SourceToken& found);

/// Help for a `(` that is missing behind the keyword of a statement.
std::string hint_for_missing_parenthesis(TokenList& tokens, const SourceToken& keyword);

/// Help for a `;` that is missing because a comment begins behind `last`, as in `int q = 7//2;`.
std::string hint_for_comment_behind(TokenList& tokens, const SourceToken& last);

/// Help for `name(...) {` as a statement.
std::string_view hint_for_block_after(TokenList& tokens, const SourceToken& name, const SourceToken& brace);

/// Whether `found` names the first parameter of a function that is defined there.
bool begins_nested_definition(TokenList& tokens, const SourceToken& found);

/// A word of another language that begins a statement there, as in `return x;`.
struct ForeignStatement {
  std::string_view help;  ///< empty: none
  bool has_block = false;
};
/// @return no help if token `at` does not begin one
ForeignStatement foreign_statement(TokenList& tokens, std::size_t at);

}  // namespace raddle
