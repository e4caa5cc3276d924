#pragma once
// What the parts of the library in the language itself define, found without parsing them.
#include <span>
#include <string_view>
#include <vector>

namespace raddle::stdlib {

/// A function, type, constant or variable at top level: it begins in the first column.
struct Definition {
  std::string_view name;     ///< those that end in `_` are the module's own
  std::string_view head;     ///< without its body, or value
  std::string_view comment;  ///< the lines above it, as they stand there
  std::string_view text;     ///< all of it
  bool is_function = false;
  char type_variable = '\0';  ///< `<T>` before it: it stands for one function for each of element_types()
  /// `<R>`, `<Q>` or `<T, R>` before it: it stands for one for each number of axes from least_rank() to most_axes.
  char rank_variable = '\0';
};

/// @param text  of a module, for as long as the result is used
std::vector<Definition> definitions_of(std::string_view text);

/// An input of functions of arrays.df that is given by its name only, so that a script which does not have the name
/// needs no such function.
inline constexpr std::string_view name_only_input = "keepdims";

/// What a type variable stands for: T for each type that elements of dense arrays have, W for float and int, of which
/// those of 32 bits become one where they are given, F for the floats of both widths. Those of 32 bits stand at the
/// end.
std::span<const std::string_view> element_types(char type_variable);

inline constexpr unsigned most_axes = 8;
/// What a rank variable stands for: Q for each number of axes from 3 on, R from 4 on, up to most_axes.
unsigned least_rank(char rank_variable);
/// The text behind `<T>`, `<R>` or `<T, R>`, if it begins so.
std::string_view without_variables(std::string_view text);

}  // namespace raddle::stdlib
