#pragma once
// The grammar's rules in words, for messages. Private to compiler/parse.
#include <cstddef>
#include <cstdint>
#include <string>

namespace raddle {

/// "the {}": what a `;` ends.
const char* subject_of_rule(std::size_t rule);
/// What rule `rule` can not go on without, where several tokens would do: "an expression".
std::string expected_by_rule(std::size_t rule);
/// What the name is of that rule `rule` expects: "a parameter name".
std::string name_expected_by_rule(std::size_t rule);
/// In `rule` elements are separated by commas: one may be missing where the closing bracket is expected.
bool is_list_rule(std::size_t rule);
/// The token begins a definition, import, ...: never a statement.
bool begins_item(std::uint32_t token_type);
bool is_reserved_word(std::uint32_t token_type);
/// The token begins a statement with a block: `if`, `for`, ...
bool has_block(std::uint32_t token_type);

}  // namespace raddle
