#pragma once
// What a builtin's signature (Note [signatures] in stdlib/builtins.def) says about how it is called.
#include <cstdint>
#include <string_view>
#include <vector>

namespace raddle::emit {

/// What an input must be before the function may be called.
enum class InputMark : std::uint8_t {
  none,       ///< there, with all that is in it
  closed,     ///< &: an array that is closed, a file that has its name
  reference,  ///< &&: there; an array may still grow
};

struct BuiltinArguments {
  std::size_t file_output_count = 0;  ///< outputs of type file: leading arguments
  std::vector<bool> returns_void;     ///< by output that is no file
  std::vector<InputMark> inputs;
  bool has_varargs = false;  ///< the last input stands for any number
  InputMark mark(std::size_t input) const;
};

BuiltinArguments builtin_arguments(std::string_view signature);

}  // namespace raddle::emit
