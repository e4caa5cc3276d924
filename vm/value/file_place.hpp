#pragma once
#include <string>

namespace raddle::vm {

/// The same text for all names of a file that is there or is to be made: links, `./` and a name of its own for the same
/// file make no difference. @return "" of what any number may write to: a stream, a device, a folder
std::string file_place(const std::string& path);

}  // namespace raddle::vm
