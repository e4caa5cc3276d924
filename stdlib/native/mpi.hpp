#pragma once
// Programs of several processes, which `mpiexec` starts.
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::stdlib::native {

inline constexpr std::int64_t most_processes = 10000;

/// A program of this name would be found.
bool is_in_path(const std::string& program);

/// What stands before the words of a program to start it as so many processes.
/// @param who  asks for it, for messages
std::expected<std::vector<std::string>, std::string> mpi_words(std::int64_t process_count, std::string_view who);

}  // namespace raddle::stdlib::native
