#pragma once
// Library functions of arrays that machine code calls.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace raddle::stdlib {

/// Note [own functions]. A kernel with arrays of its own calls sort, solve and their like as they are: by a C function
/// of this program, which machine code finds by its name. It takes what the library function takes, of an array its
/// numbers and how many, of a text the number of a word below, then for each output where its numbers go and how many
/// there have to be; of a number that is no array one. It gives whether all went well: if not, the call is interpreted,
/// which tells what is wrong. The list is numbers/own_functions.def.
struct OwnFunction {
  std::string_view builtin;  ///< as IR prints it
  std::string_view symbol;   ///< of the C function
  std::size_t input_count;
  std::string_view counts;  ///< see own_functions.def
  const void* address;      ///< of it: so it is part of the program
};

/// @param builtin  index of the library's table  @return null: it is none of these
const OwnFunction* find_own_function(std::uint32_t builtin);

/// @return  the number of a word, -1 if there is none
std::int64_t word_number(std::string_view word);

}  // namespace raddle::stdlib
