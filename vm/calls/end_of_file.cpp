#include "vm/calls/end_of_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace raddle::vm {
namespace {

constexpr std::size_t most_lines = 10;
constexpr std::uintmax_t most_bytes = 2048;

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::vector<std::string> last_lines(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return {};
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  std::ifstream file(path, std::ios::binary);
  if (code || !file) return {};
  std::vector<std::string> lines;
  const bool is_cut = size > most_bytes;
  if (is_cut) file.seekg(static_cast<std::streamoff>(size - most_bytes));
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && is_control(line.back())) line.pop_back();  // of a line end of Windows, too
    std::ranges::replace_if(
        line, [](char c) { return is_control(c); }, ' ');
    lines.push_back(std::move(line));
  }
  // the first one begins somewhere in its middle
  if (is_cut && lines.size() > 1) lines.erase(lines.begin());
  if (lines.size() > most_lines) lines.erase(lines.begin(), lines.end() - most_lines);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace raddle::vm
