#pragma once
// What code in Tcl calls of Turbine: `turbine::rule`, `turbine::retrieve_integer`, ... See Note [procedures].

namespace raddle::vm {

/// Tcl that defines the package `turbine`, evaluated once in each interpreter.
extern const char* const turbine_commands;
/// What has no namespace: `show`, `blobutils_malloc`, .. Evaluated after the commands.
extern const char* const turbine_helpers;

}  // namespace raddle::vm
