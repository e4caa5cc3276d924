#include "compiler/appkernel/library_code.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "compiler/source/read_file.hpp"

namespace raddle::appkernel {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_name = "raddle_kernels";

std::string usual_folder() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return folder_name;
  const fs::path built = folder / folder_name;
  return fs::exists(built, error) ? built : folder.parent_path() / "lib" / "raddle" / folder_name;
}

/// Before the code.
std::string head(const std::string& key) { return fmt::format("{}\n{}", key.size(), key); }

}  // namespace

LibraryCode::LibraryCode(const std::string& folder) : folder_(folder.empty() ? usual_folder() : folder) {}

std::optional<std::string> LibraryCode::find(const std::string& name, const std::string& key) const {
  std::string text, error;
  const std::string expected = head(key);
  if (!read_file((fs::path(folder_) / name).string(), text, error) || !text.starts_with(expected)) return std::nullopt;
  return text.substr(expected.size());
}

std::string LibraryCode::store(const std::string& name, const std::string& key, std::string_view code) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path path = fs::path(folder_) / name;
  std::ofstream file(path, std::ios::binary);
  if (file << head(key) << code << std::flush) return "";
  return fmt::format("can not write `{}`", path.string());
}

const char* library_instructions() {
  return __builtin_cpu_supports("x86-64-v3") ? library_instruction_sets[0] : library_instruction_sets[1];
}

}  // namespace raddle::appkernel
