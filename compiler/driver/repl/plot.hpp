#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/terminal/screen.hpp"

namespace raddle::driver::repl {

/// A curve through the numbers, left to right, of characters with eight dots each. What is no finite number is left
/// out.
/// @param ends  what stands below the first and the last of them
/// @param size  of the drawing, labels included
std::string plot(const std::vector<double>& numbers, const std::pair<std::string, std::string>& ends,
                 terminal::Size size);

}  // namespace raddle::driver::repl
