#include "vm/record/named_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "vm/record/file_version.hpp"
#include "vm/value/hash.hpp"
#include "vm/value/matching_paths.hpp"

namespace raddle::vm {
namespace {

constexpr std::string_view names_mark = "names ", time_mark = "written ", link_mark = "leads to ";
constexpr std::string_view output_marks[] = {"an output", "a new output"};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// What is run, by itself or by an interpreter: `./model`, `model.py`.
bool is_program(const std::string& path) {
  static constexpr std::array suffixes = {".py", ".R",  ".r",   ".jl", ".sh",  ".m",
                                          ".pl", ".rb", ".lua", ".js", ".tcl", ".df"};
  if (!is_file(path)) return false;
  return access(path.c_str(), X_OK) == 0 ||
         std::ranges::any_of(suffixes, [&](const char* suffix) { return path.ends_with(suffix); });
}

/// words.size(): none
std::size_t program_word(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if ((i > 0 || words[i].find('/') != std::string::npos) && is_program(words[i])) return i;
  return words.size();
}

std::string version_of_names(const std::string& pattern) {
  std::string all;
  for (const std::string& path : matching_paths(pattern).value_or(std::vector<std::string>())) all += path + '\0';
  return fmt::format("{}{:016x}", names_mark, vm::hash(all).low);
}

std::optional<timespec> time_of(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? std::optional(status.st_mtim) : std::nullopt;
}

bool is_before(const timespec& a, const timespec& b) {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}

bool is_past(const timespec& time) { return !is_before(time_of_files().latest, time); }

}  // namespace

std::vector<NamedFile> named_files(const std::vector<std::string>& words) {
  std::vector<NamedFile> files;
  const std::size_t program = program_word(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == 0 && program != 0) continue;
    const std::size_t sign = words[i].find('=');  // --table=FILE
    if (is_file(words[i]))
      files.push_back({.name = words[i], .is_certain = i == program});
    else if (sign != std::string::npos && is_file(words[i].substr(sign + 1)))
      files.push_back({.name = words[i].substr(sign + 1)});
  }
  return files;
}

std::string output_mark(bool is_new) { return std::string(output_marks[is_new ? 1 : 0]); }

std::string version_of(KeptFiles& files, const NamedFile& file) {
  if (file.is_pattern) return version_of_names(file.name);
  if (file.is_link) {
    std::error_code failed;
    const std::string whole = std::filesystem::weakly_canonical(file.name, failed).string();
    return fmt::format("{}{:016x} {}", link_mark, vm::hash(whole).low, file_version(files, file.name));
  }
  if (!file.is_time) return file_version(files, file.name);
  const std::optional<timespec> written = time_of(file.name);
  return fmt::format("{}{} {}", time_mark, written ? written->tv_sec : 0, file_version(files, file.name));
}

FileTime time_of_files() {
  FileTime time{};
  clock_gettime(CLOCK_REALTIME_COARSE, &time.earliest);
  clock_gettime(CLOCK_REALTIME, &time.latest);
  return time;
}

bool is_written_after(const std::string& path, const FileTime& time) {
  const std::optional<timespec> written = time_of(path);
  return written && is_before(time.latest, *written) && is_past(*written);
}

bool may_be_written_after(const std::string& path, const FileTime& time) {
  const std::optional<timespec> written = time_of(path);
  return written && !is_before(*written, time.earliest) && is_past(*written);
}

bool has_version(KeptFiles& files, const std::string& name, const std::string& version) {
  const NamedFile file = named_as(name, version);
  std::error_code ignored;
  return file.is_output ? std::filesystem::exists(name, ignored) : version_of(files, file) == version;
}

NamedFile named_as(const std::string& name, std::string_view version) {
  return {.name = name,
          .is_certain = true,
          .is_pattern = version.starts_with(names_mark),
          .is_time = version.starts_with(time_mark),
          .is_link = version.starts_with(link_mark),
          .is_output = std::ranges::find(output_marks, version) != std::end(output_marks)};
}

void join_versions(KeptFiles& files, const std::string& name, std::string& version, const std::string& later) {
  const auto says_more = [&](const std::string& each) {
    const NamedFile file = named_as(name, each);
    return file.is_time || file.is_link;
  };
  if (says_more(later) && !says_more(version) && has_version(files, name, version)) version = later;
}

}  // namespace raddle::vm
