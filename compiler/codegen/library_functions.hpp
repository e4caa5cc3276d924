#pragma once
// Functions of shared libraries that compiled leaves call.
#include <string>
#include <string_view>

namespace raddle::codegen {

/// What the function is called in compiled code.
/// @param library  as dlopen() is to have it; "": this program
std::string library_symbol(std::string_view library, std::string_view function);

bool is_library_symbol(std::string_view symbol);

/// Loads the library. @pre is_library_symbol()  @return null: there is no such library, or no such function in it
const void* find_library_function(std::string_view symbol);

}  // namespace raddle::codegen
