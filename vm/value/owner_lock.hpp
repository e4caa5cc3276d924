#pragma once
// A lock of the system's on a file or folder that tells whether its owner lives: it is gone with the process, however
// that ends, and after a restart of the machine.
#include <string>

#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

enum class OwnerLock : unsigned char {
  owned,      ///< until all copies of the descriptor are closed
  taken,      ///< by who locked it first
  not_there,  ///< such files have no locks here
};

/// Of a file that is open for writing.
OwnerLock lock_file(int fd);
/// Of a folder that is open.
OwnerLock lock_folder(int fd);

/// Whether the path still names what was opened: who has found it before it was locked has taken it for left behind.
bool is_at(int fd, const std::string& path);

/// What has been left behind, locked: nobody else touches it as long as this is open. It must be a regular file, or a
/// folder, of this user's. @return none: it is not there, or its owner lives, or nobody can tell
FileDescriptor lock_left_file(const std::string& path);
FileDescriptor lock_left_folder(const std::string& path);

}  // namespace raddle::vm
