#pragma once
// Temporary files of this process: in $SWIFT_TMP, else $TMP, else $TMPDIR, else /tmp; and folders beside the place of
// what is made in them. What a process that was killed has left is removed by the next one: a lock tells whether the
// owner lives.
#include <string>

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

}  // namespace raddle::vm
