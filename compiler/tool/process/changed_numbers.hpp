#pragma once

namespace raddle::tool {

/// Of files of numbers that others have written to while these were read from there: vm/memory/mapped_file.hpp.
void warn_of_changed_numbers();

}  // namespace raddle::tool
