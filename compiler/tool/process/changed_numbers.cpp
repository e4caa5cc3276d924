#include "compiler/tool/process/changed_numbers.hpp"

#include <fmt/format.h>

#include "compiler/tool/command/session.hpp"
#include "vm/memory/mapped_file.hpp"

namespace raddle::tool {

void warn_of_changed_numbers() {
  for (const std::string& path : vm::take_changed_files())
    warn(fmt::format("`{}` was written to while its numbers were in use: some may be the old ones, some the new ones",
                     path));
}

}  // namespace raddle::tool
