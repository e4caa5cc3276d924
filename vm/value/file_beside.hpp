#pragma once
#include <sys/types.h>

#include <expected>
#include <string>

#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

/// A file that is to take the place of another one, or of none, when it is whole. Until then it lies beside it under a
/// name that nobody else has, nor can guess, `TARGET.PID-CHANCE.tmp`, locked: if this process is killed, the next one
/// that makes such a file of the same target removes it. All that is written whole or not at all is written so. One
/// thread each.
class FileBeside {
 public:
  /// @param target  no link: one that is replaced keeps its permissions   @param mode  of one that is not there yet
  /// @error  an errno
  static std::expected<FileBeside, int> make(const std::string& target, mode_t mode);
  FileBeside(FileBeside&& other) noexcept;
  FileBeside& operator=(FileBeside&&) = delete;
  /// Removes it unless it was placed.
  ~FileBeside();
  /// For writing.
  int descriptor() const { return file_.get(); }
  /// Closes it and renames it to `path`, in the same folder. @return 0, or an errno
  int place(const std::string& path);

 private:
  FileBeside(std::string name, FileDescriptor file) : name_(std::move(name)), file_(std::move(file)) {}
  std::string name_;  ///< "": it is not there any more
  FileDescriptor file_;
};

/// What keeps a file from being replaced: rename() asks for its folder only, but who has made a file read-only wants to
/// keep it. @return 0, or an errno; 0 for what is not there
int fault_of_replacing(const std::string& path);

}  // namespace raddle::vm
