#pragma once
// What goes to standard output, kept in place of being written: by the script and by its programs.
#include <cstdint>
#include <string>

#include "vm/value/file_descriptor.hpp"

namespace raddle::tool {

class KeptOutput {
 public:
  /// @throws std::system_error without a place for it
  KeptOutput();
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;
  ~KeptOutput() { end(); }
  struct Text {
    std::string end;  ///< 16 MiB at most
    std::uint64_t size = 0;
  };
  /// Standard output is again what it was. @return what came meanwhile
  Text end();

 private:
  vm::FileDescriptor file_, earlier_;
  bool has_ended_ = false;
};

}  // namespace raddle::tool
