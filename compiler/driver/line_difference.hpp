#pragma once
// The difference of two texts, line by line.
#include <string>
#include <string_view>

namespace raddle::driver {

/// As `diff -u` prints it, with three lines around each change. @return "" if the texts are equal
std::string line_difference(const std::string& name, std::string_view before, std::string_view after);

}  // namespace raddle::driver
