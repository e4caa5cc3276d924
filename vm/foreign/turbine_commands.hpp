#pragma once
// What procedures in Turbine's form call: `turbine::rule`, `turbine::retrieve_integer`, ... See Note [procedures].

namespace raddle::vm {

/// Tcl that defines the package `turbine`, evaluated once in each interpreter.
extern const char* const turbine_commands;

}  // namespace raddle::vm
