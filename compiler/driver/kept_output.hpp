#pragma once
// What goes to standard output, kept in place of being written: by the script and by its programs.
#include <string>

#include "vm/value/file_descriptor.hpp"

namespace raddle::driver {

class KeptOutput {
 public:
  /// @throws std::system_error without a place for it
  KeptOutput();
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;
  ~KeptOutput() { end(); }
  /// Standard output is again what it was. @return what came meanwhile
  std::string end();

 private:
  vm::FileDescriptor file_, earlier_;
  bool has_ended_ = false;
};

}  // namespace raddle::driver
