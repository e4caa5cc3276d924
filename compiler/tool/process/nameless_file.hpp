#pragma once
#include "vm/value/file_descriptor.hpp"

namespace raddle::tool {

/// A file that nobody else can open, and that is gone with the process. @return none, with errno, if it can not be made
vm::FileDescriptor open_nameless();

}  // namespace raddle::tool
