#pragma once
// Pages that are brought when they are touched.
#include <signal.h>

#include <cstddef>

namespace raddle::vm {

/// Brings the page at the address. @return false: it is none of its own, or must not be written
using PageServer = bool (*)(std::byte* address, bool is_write);

/// Faults of the calling process at addresses that the server knows are no errors from now on; others go on to whoever
/// has listened before. @pre there are no other threads   Again: where others have taken its place meanwhile
void serve_page_faults_by(PageServer server);

/// For handlers of faults that are set later. @return true: it was such a fault, and the thread can go on
bool serve_page_fault(int signal, const siginfo_t& info, const void* context);

}  // namespace raddle::vm
