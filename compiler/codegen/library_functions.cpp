#include "compiler/codegen/library_functions.hpp"

#include <dlfcn.h>

namespace raddle::codegen {

constexpr std::string_view prefix = "raddle_library:";

std::string library_symbol(std::string_view library, std::string_view function) {
  return std::string(prefix).append(library).append(":").append(function);
}

bool is_library_symbol(std::string_view symbol) { return symbol.starts_with(prefix); }

const void* find_library_function(std::string_view symbol) {
  const std::size_t end = symbol.rfind(':');
  const std::string library(symbol.substr(prefix.size(), end - prefix.size()));
  void* const loaded = dlopen(library.empty() ? nullptr : library.c_str(),
                              RTLD_NOW | RTLD_LOCAL);  // it stays: so do the calls of the interpreter
  return loaded == nullptr ? nullptr : dlsym(loaded, std::string(symbol.substr(end + 1)).c_str());
}

}  // namespace raddle::codegen
