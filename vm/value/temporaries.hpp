#pragma once
// Temporary files of this process: in $SWIFT_TMP, else $TMP, else $TMPDIR, else /tmp; and beside what they are to
// replace. What a process that was killed has left is removed by the next one. Of files a lock tells whether their
// owner lives. Folders aside are named after it: `.raddle-SYSTEM-PID-NUMBER`. SYSTEM says where process ids mean the
// same: it is made of the machine's start and of the namespace.
#include <string>

#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

/// $SWIFT_TMP, $TMP, $TMPDIR or /tmp: the first that is set and not empty.
std::string temporary_folder();

/// Makes an empty temporary file. Any thread.
/// @return  its path, "" if it could not be made
std::string make_temporary();

/// Removes one that make_temporary has made, unless the environment says SWIFT_TMP_AUTODELETE=0. Any thread.
void remove_temporary(const std::string& path);

/// Removes all that are left, temporary files unless SWIFT_TMP_AUTODELETE=0: for a process that ends without its
/// destructors. Any thread, but not a signal handler.
void remove_temporaries();

/// Makes a hidden folder in `folder` ("": the working folder): for files that are moved from there to `folder` when
/// they are whole, which is a rename, as both are on one file system. What killed processes have left of such folders
/// is removed. Any thread.
/// @return  its path, "" if it could not be made
std::string make_folder_aside(const std::string& folder);

/// Removes one that make_folder_aside has made, with all in it. Any thread.
void remove_folder_aside(const std::string& path);

/// A name beside `path` that nobody else has, nor can guess: for what is to take its place when it is whole. Any
/// thread.
std::string name_beside(const std::string& path);

/// A new, empty file of such a name. Any thread.
struct FileBeside {
  std::string name;
  FileDescriptor file;  ///< for writing; none: errno says why
};
FileBeside make_beside(const std::string& path, unsigned mode);

/// What keeps a file from being replaced: rename() asks for its folder only, but who has made a file read-only wants to
/// keep it. @return 0, or an errno; 0 for what is not there
int fault_of_replacing(const std::string& path);

/// Locks a file of such a name as long as it is open, so that nobody takes it for left behind.
void lock_while_open(int fd);

/// Removes files of such names beside `path` whose writers do not live any more. Any thread.
void remove_left_beside(const std::string& path);

}  // namespace raddle::vm
