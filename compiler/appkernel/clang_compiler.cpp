#include "compiler/appkernel/clang_compiler.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "compiler/appkernel/call_text.hpp"
#include "compiler/appkernel/kernel_header.hpp"
#include "compiler/source/kernel_sources.hpp"
#include "compiler/codegen/cpu_identity.hpp"
#include "compiler/source/read_file.hpp"
#include "vm/value/file_descriptor.hpp"

extern char** environ;

namespace raddle::appkernel {
namespace {

namespace fs = std::filesystem;

// No a*b + c is contracted: results have the same bits on every processor.
constexpr const char* flags =
    "-x c++ -std=c++20 -O3 -march=native -ffp-contract=off -fPIC -shared -fno-color-diagnostics";

/// Removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "raddle_kernel_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// Empty: it could not be made.
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool write_text(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  return static_cast<bool>(file << text << std::flush);
}

std::string text_of(const fs::path& path) {
  std::string text, error;
  read_file(path.string(), text, error);
  return text;
}

/// @param output  gets what the program prints
/// @return        its exit code; -1: it could not be started, errno says why
int run_program(const std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  errno = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (errno != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The first lines, which have the first fault, without our own files; the kernel's is named as the script does.
std::string message(const std::string& text, const std::string& folder, const std::string& absolute,
                    const std::string& written) {
  constexpr int most_lines = 12;
  std::istringstream lines(text);
  std::string shown;
  int count = 0;
  for (std::string line; count < most_lines && std::getline(lines, line);) {
    if (line.find(folder) != std::string::npos) continue;
    if (const std::size_t at = line.find(absolute); at != std::string::npos) line.replace(at, absolute.size(), written);
    shown += (count++ == 0 ? "" : "\n") + line;
  }
  return shown;
}

}  // namespace

std::expected<std::string, std::string> ClangCompiler::compile(const vm::ForeignFunction& function) {
  const auto sources = kernel_sources(function.library);
  if (!sources) return std::unexpected(fmt::format("can not read `{}`: {}", function.library, sources.error()));
  const std::string absolute = fs::absolute(function.library).lexically_normal().string();
  const std::string call = call_text(function, absolute);
  std::string key = fmt::format("AppKernel {}\n{}\n{}\n{}", codegen::cpu_identity(), flags, kernel_header(), call);
  for (const SourceFile& file : *sources) key += fmt::format("\n{}\n{}", file.path, file.text);
  const std::scoped_lock lock(mutex_);
  if (!cache_) cache_.emplace(cache_folder_);
  if (std::optional<std::string> kept = cache_->find(key)) return std::move(*kept);

  const TemporaryFolder folder;
  const fs::path& here = folder.path();
  if (here.empty() || !write_text(here / "raddle_kernel.h", kernel_header()) || !write_text(here / "call.cpp", call))
    return std::unexpected(fmt::format("no temporary files to compile `{}` with", function.library));
  std::vector<std::string> words{"clang++-19"};
  std::string all_flags = flags;
  for (std::size_t begin = 0; begin < all_flags.size();) {
    const std::size_t end = std::min(all_flags.find(' ', begin), all_flags.size());
    words.push_back(all_flags.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const fs::path& word : {fs::path("-I"), here, fs::path("-o"), here / "kernel.so", here / "call.cpp"})
    words.push_back(word.string());
  const int code = run_program(words, here / "output");
  if (code < 0)
    return std::unexpected(
        fmt::format("AppKernels are compiled by clang++-19, which can not be started: {}; on Debian "
                    "it is in the package clang-19",
                    vm::error_text(errno)));
  if (code != 0)
    return std::unexpected(fmt::format("can not compile `{}`:\n{}", function.library,
                                       message(text_of(here / "output"), here.string(), absolute, function.library)));
  std::string library = text_of(here / "kernel.so");
  cache_->store(key, library);
  return library;
}

}  // namespace raddle::appkernel
