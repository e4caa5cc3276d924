#pragma once
// What the record knows a file by.
#include <string>

#include "vm/record/kept_files.hpp"

namespace raddle::vm {

/// Changes with the file: its content, or of one that takes long to read its size and when it was written; "no file" if
/// there is none. Of what is no regular file, as a folder, its kind. Any thread.
/// @param files  reads a file that has not changed since the last time only once
std::string file_version(KeptFiles& files, const std::string& path);

}  // namespace raddle::vm
