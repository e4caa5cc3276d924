#pragma once
// What differs between the named values of two points.
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace raddle::tool {

/// By name, in an order of their own.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

struct ValueDifference {
  std::string name;
  std::optional<std::string> now, before;  ///< none: not there
};

/// 1 and 1.0 are one value. In the order of `now`; what is only in `before` comes last.
std::vector<ValueDifference> differences_of(const NamedValues& now, const NamedValues& before);

/// An empty string is shown as `""`.
std::string shown(const std::optional<std::string>& value, const char* not_there);

/// "`a` was 1, and is 2; `b` was 3, and is not there"
std::string text_of(const std::vector<ValueDifference>& differences);

/// What both have with other texts, 1 and 1.0 too: to a program they are different words.
std::vector<ValueDifference> differently_written(const NamedValues& now, const NamedValues& before);

/// Of versions of files by their names: those that were other ones.
std::vector<ValueDifference> changed_files(const NamedValues& now, const NamedValues& before);
/// "`a.txt`, `b.txt` are not what they were then"
std::string not_as_before(const std::vector<ValueDifference>& files);

}  // namespace raddle::tool
