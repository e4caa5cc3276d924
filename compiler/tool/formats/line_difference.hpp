#pragma once
// The difference of two texts that differ in blanks and newlines, line by line.
#include <string>
#include <string_view>

namespace raddle::tool {

/// As `diff -u` prints it, with three lines around each change; in one pass, however much has changed. (Of other texts
/// the difference is right, but long.) @return "" if the texts are equal
std::string line_difference(const std::string& name, std::string_view before, std::string_view after);

}  // namespace raddle::tool
