#pragma once
// Temporary files of this process: in $SWIFT_TMP, else $TMP, else $TMPDIR, else /tmp; and beside what they are to
// replace. What a process that was killed has left of both is removed by the next one: a lock tells whether its owner
// lives.
#include <string>

namespace raddle::vm {

/// $SWIFT_TMP, $TMP, $TMPDIR or /tmp: the first that is set and not empty.
std::string temporary_folder();

/// Makes an empty temporary file. Any thread.
/// @return  its path, "" if it could not be made
std::string make_temporary();

/// Removes one that make_temporary has made, unless the environment says SWIFT_TMP_AUTODELETE=0. Any thread.
void remove_temporary(const std::string& path);

/// Removes all that are left, unless SWIFT_TMP_AUTODELETE=0: for a process that ends without its destructors. Any
/// thread, but not a signal handler.
void remove_temporaries();

/// A name beside `path` that nobody else has: for what is to take its place when it is whole. Any thread.
std::string name_beside(const std::string& path);

/// Locks a file of such a name as long as it is open, so that nobody takes it for left behind.
void lock_while_open(int fd);

/// Removes files of such names beside `path` whose writers do not live any more. Any thread.
void remove_left_beside(const std::string& path);

}  // namespace raddle::vm
