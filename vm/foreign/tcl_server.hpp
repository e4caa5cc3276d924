#pragma once
// The process in which the functions in Tcl of one rank run: Raddle's own program, started with a word that no user
// types. ServerPool has how requests come, tcl_exchange.cpp what they say.

namespace raddle::vm {

/// The word behind which the number of workers stands.
constexpr const char* tcl_server_word = "-tcl-server";

/// On the main thread, before anything else is begun. @return the exit code
int serve_tcl(const char* workers);

}  // namespace raddle::vm
