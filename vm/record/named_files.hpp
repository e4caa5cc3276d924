#pragma once
// Files that a program, or the script itself, is given by name while it runs, and what they were then: results are
// taken from a record only while these are what they were.
#include <time.h>

#include <string>
#include <string_view>
#include <vector>

#include "vm/record/kept_files.hpp"

namespace raddle::vm {

struct NamedFile {
  std::string name;         ///< its path, or a pattern of paths
  bool is_certain = false;  ///< it is read: the program itself, or what a function reads
  bool is_pattern = false;  ///< what matters is which files there are
  bool is_time = false;     ///< when it was written matters, too
  bool is_link = false;     ///< so does where its links lead to
  bool is_output = false;   ///< it is no input but was written: all that matters is that it is there
  bool may_be_made = true;  ///< by a program of the run that does not say so; else who writes it meanwhile edits it
};

/// Those that words of a command line name. The program is the first word that is one, with a `/` in it or behind a
/// word that starts it, as `python3 -u`, `nice -n 5`, `mpirun`: one that is looked up in PATH is the system's. So is
/// every word, or what stands behind a `=` in it, that is a regular file.
std::vector<NamedFile> named_files(const std::vector<std::string>& words);

/// What is kept in place of the version of a file that was written.
/// @param is_new  it was not there before
std::string output_mark(bool is_new);

/// file_version(), with the time or the full path if that matters, or of a pattern what tells which names fit it. Any
/// thread.
std::string version_of(KeptFiles& files, const NamedFile& file);
/// @param version  of version_of(), some time ago
bool has_version(KeptFiles& files, const std::string& name, const std::string& version);
/// As it was named when it had this version. @param version  of version_of()
NamedFile named_as(const std::string& name, std::string_view version);
/// Which version is to be kept of a file that was named twice: that with the time or path, if nobody has changed it
/// meanwhile.
void join_versions(KeptFiles& files, const std::string& name, std::string& version, const std::string& later);

/// Now, as file systems note the time of a change: with a clock that is behind by some milliseconds, by more on a busy
/// machine, or, newer ones, with one that is exact.
struct FileTime {
  timespec earliest;  ///< of what is written from now on
  timespec latest;    ///< of what was written before
};
FileTime time_of_files();
/// Whether a file was certainly written, or made, later than that. No file is whose time is still to come: somebody has
/// set that.
bool is_written_after(const std::string& path, const FileTime& time);
/// The same, or as it may be.
bool may_be_written_after(const std::string& path, const FileTime& time);

}  // namespace raddle::vm
