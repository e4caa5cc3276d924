#pragma once
// What a builtin's signature (Note [signatures] in stdlib/builtins.def) says about how it is called.
#include <string_view>
#include <vector>

namespace raddle::emit {

struct BuiltinArguments {
  std::size_t file_output_count = 0;  ///< outputs of type file: leading arguments
  std::vector<bool> returns_void;     ///< by output that is no file
  std::vector<bool> by_reference;     ///< by input: marked `&`
  bool has_varargs = false;           ///< the last input stands for any number
  bool is_by_reference(std::size_t input) const;
};

BuiltinArguments builtin_arguments(std::string_view signature);

}  // namespace raddle::emit
