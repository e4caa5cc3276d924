#pragma once
// The files that a program's standard streams are redirected to, opened by us so that the error can name the file.
#include <expected>
#include <string>

#include "vm/external/processes.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

/// Why a file could not be opened.
struct OpenFault {
  int error;         ///< errno
  std::string text;  ///< "can not open `x`: permission denied"
};

class Redirects {
 public:
  /// Opens what the request names and is still closed, without ever blocking; outputs are truncated, and their folders
  /// made where missing. One file for stdout and stderr is opened once, so that both write to it in turn.
  /// @return  false: a named pipe has nobody at its other end yet: call again later
  std::expected<bool, OpenFault> open(const ProcessRequest& request);
  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  int error() const { return shared_ ? out_.get() : error_.get(); }

 private:
  FileDescriptor in_, out_, error_;
  bool shared_ = false;
};

}  // namespace raddle::vm
