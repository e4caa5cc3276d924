#pragma once
// Runs of a reference simulator of the same rules, which ours must repeat to the nanosecond.
#include <expected>
#include <string>
#include <vector>

namespace raddle::locality {

struct GoldenCheck {
  std::size_t records = 0;
  std::vector<std::string> differences;  ///< of each record that differs, what and how
};

/// Repeats every run of a file: a JSON array of objects, each with program, machine, policy and what came of it.
/// @error  the file can not be read, is no such array, or a record lacks a member or has one that means nothing here
std::expected<GoldenCheck, std::string> check_golden(const std::string& path);

}  // namespace raddle::locality
