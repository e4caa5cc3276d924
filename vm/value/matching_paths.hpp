#pragma once
#include <optional>
#include <string>
#include <vector>

namespace raddle::vm {

/// Whether it has signs that a pattern of paths gives a meaning: `*?[{\`.
bool is_pattern(const std::string& path);

/// Paths of what is there that a pattern fits, sorted; of `{a,b}` first those of a. The beginning of the pattern that
/// is there under this very name, as the folder `ex[1]`, is that name; a sign behind `\` is itself.
/// @return  none if there is no memory for them
std::optional<std::vector<std::string>> matching_paths(const std::string& pattern);

}  // namespace raddle::vm
