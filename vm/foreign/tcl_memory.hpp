#pragma once
#include "vm/foreign/tcl_api.hpp"

namespace raddle::vm {

/// Adds `::raddle::memory allocate BYTES`, `release ADDRESS`, `read ADDRESS BYTES`, `write ADDRESS DATA`. An address
/// that is none ends the process, as C would.
void add_memory_command(const TclApi& api, Tcl_Interp* interpreter);

}  // namespace raddle::vm
