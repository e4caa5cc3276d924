#include "vm/foreign/tcl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace raddle::vm {

namespace {

constexpr const char* library_name = "libtcl8.6.so";  // Debian's package libtcl8.6

std::expected<TclApi, std::string> load() {
  void* library = nullptr;  // global: packages in C find it as in tclsh
  for (const char* name : {library_name, "libtcl8.6.so.0"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  }
  if (library == nullptr) {
    return std::unexpected(fmt::format(
        "this function is written in Tcl, and `{}` is not installed (Debian's package libtcl8.6)", library_name));
  }
  TclApi api;
#define RADDLE_TCL_LOAD(name, result, parameters)                         \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr) return std::unexpected(fmt::format("`{}` has no {}", library_name, #name));
  RADDLE_TCL_FUNCTIONS(RADDLE_TCL_LOAD)
#undef RADDLE_TCL_LOAD
  // Once in the process, before the first interpreter. Tcl looks for packages beside its program: without one that
  // would be `./lib`, whose files it executes.
  api.Tcl_FindExecutable("/usr/bin/tclsh8.6");
  return api;
}

}  // namespace

const std::expected<TclApi, std::string>& tcl_api() {
  static const std::expected<TclApi, std::string> api = load();
  return api;
}

}  // namespace raddle::vm
