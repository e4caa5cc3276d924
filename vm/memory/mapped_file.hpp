#pragma once
// Files whose bytes lie in memory as they are read, and not before.
#include <sys/stat.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace raddle::vm {

/// The bytes of a regular file. Who writes there gets pages of his own, and the file stays as it is. Pages come when
/// they are read, and the system drops them where it needs room: such a file may be larger than memory.
///
/// What others write into the file meanwhile may be seen or not: take_changed_files() tells of it. Where they have cut
/// the file short nothing can be read: there is a SIGBUS then, of which lost_file() tells the name.
class MappedFile {
 public:
  /// @param file  open for reading; need not stay open
  /// @return null: it has no bytes, or the system does not do it
  static std::unique_ptr<MappedFile> make(int file, std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() const { return data_; }

 private:
  MappedFile(std::byte* data, std::string path, const struct stat& status);
  friend const char* lost_file(int signal, const siginfo_t& info);
  friend std::vector<std::string> take_changed_files();
  /// Since it was mapped it has been written to. Not: another file has taken its name.
  bool is_changed() const;

  std::byte* const data_;
  const std::string path_;
  const struct stat status_;  ///< as it was
};

/// For handlers of signals: allocates nothing.
/// @return the path of the mapped file that lacks what was about to be read; null: the signal is about something else
const char* lost_file(int signal, const siginfo_t& info);

/// Paths of the files, also of those that are mapped no more, that were written to while they were: each is told once.
std::vector<std::string> take_changed_files();

}  // namespace raddle::vm
