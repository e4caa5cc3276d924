#pragma once
// The process that has a driver: the same program, started when a GPU is worth it. Whatever the driver does to it, the
// one that has started it goes on.

namespace raddle::gpu {

/// Serves one card to the process that has started this one, by server_socket, until that one has enough of it. On the
/// main thread, before anything else is begun. @param library  the driver's  @return the exit code
int serve_driver(const char* library);

}  // namespace raddle::gpu
