#pragma once
// Where a module in Python lies.
#include <optional>
#include <string>

namespace raddle {

/// @param folder  where it is looked for first, "" the current one   @param module  as `import` has it: "model",
/// "parts.model"
/// @return its file, if it lies there; else it is one of Python's own places
std::optional<std::string> python_module_file(const std::string& folder, const std::string& module);

}  // namespace raddle
