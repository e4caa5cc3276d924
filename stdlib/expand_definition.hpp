#pragma once
// The text of a definition that stands for several, for one of them.
#include <functional>
#include <string>
#include <string_view>

#include "stdlib/definitions.hpp"

namespace raddle::stdlib {

/// @param from  what the part is instead of, or itself: a part of the definition's text
using AppendPart = std::function<void(std::string_view part, std::string_view from)>;

/// In place of its type variable comes the type, in place of its rank variable R the number. Besides, for R = 4,
/// - `[R]`, `[R - 1]`, `[R + 1]` are the extents of a type of so many axes, each of which may be any: `[:, :, :, :]`;
/// - `EACH(s[K], R)` is `s[0], s[1], s[2], s[3]`, and `EACH(s[K], 1, R)` begins with `s[1]`; so, with `+`, `*` or `&&`
///   between them, are `SUM(..)`, `PRODUCT(..)` and `ALL(..)`. L is the number behind K. What is repeated has no other
///   capital K or L;
/// - an input `int nK` is `int n0, int n1, int n2, int n3`, and `iK in [..]` of a `foreach` likewise.
/// So a module with such definitions still reads as a script, which can be formatted.
/// @param text  of the definition, or a part of it
/// @param type  ""; it stays as it is  @param rank  0: likewise
void expand(std::string_view text, const Definition& definition, std::string_view type, unsigned rank,
            const AppendPart& append);

/// The same as a text.
std::string expanded(std::string_view text, const Definition& definition, std::string_view type, unsigned rank);

}  // namespace raddle::stdlib
