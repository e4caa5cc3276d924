#include "compiler/tool/process/nameless_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "vm/record/record_folder.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::tool {

vm::FileDescriptor open_nameless() {
  for (const std::string& folder : {std::string(vm::record_folder), vm::temporary_folder()}) {
    vm::FileDescriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
    if (file.get() >= 0) return file;
    std::string name = fmt::format("{}/output-XXXXXX", folder);  // not every file system has files without names
    vm::FileDescriptor named(mkostemp(name.data(), O_APPEND | O_CLOEXEC));
    if (named.get() < 0) continue;
    unlink(name.c_str());
    return named;
  }
  return vm::FileDescriptor();
}

}  // namespace raddle::tool
