#include "compiler/appkernel/clang_compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "compiler/appkernel/call_text.hpp"
#include "compiler/appkernel/kernel_header.hpp"
#include "compiler/codegen/cpu_identity.hpp"
#include "compiler/source/kernel_sources.hpp"
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
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "raddle_kernel_XXXXXX").string();
    if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
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

/// @param folder  gets what the program prints, in `output`, and its temporary files
/// @return        its exit code; -1: it could not be started, errno says why
int run_program(const std::vector<std::string>& words, const fs::path& folder) {
  const std::string output = (folder / "output").string();
  std::string temporary = "TMPDIR=" + folder.string();
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("TMPDIR=")) variables.push_back(*variable);
  variables.push_back(temporary.data());
  variables.push_back(nullptr);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  errno = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), variables.data());
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

/// The bytes of a shared library, or why there are none.
std::expected<std::string, std::string> compiled(const std::string& written, const std::string& absolute,
                                                 const std::string& call) {
  const TemporaryFolder folder;
  const fs::path& here = folder.path();
  if (here.empty() || !write_text(here / "raddle_kernel.h", kernel_header()) || !write_text(here / "call.cpp", call))
    return std::unexpected(fmt::format("no temporary files to compile `{}` with", written));
  std::vector<std::string> words{"clang++-19"};
  std::istringstream all_flags(flags);
  for (std::string flag; all_flags >> flag;) words.push_back(flag);
  for (const fs::path& word : {fs::path("-I"), here, fs::path("-o"), here / "kernel.so", here / "call.cpp"})
    words.push_back(word.string());
  const int code = run_program(words, here);
  if (code < 0)
    return std::unexpected(
        fmt::format("AppKernels are compiled by clang++-19, which can not be started: {}; on Debian "
                    "it is in the package clang-19",
                    vm::error_text(errno)));
  std::string library = text_of(here / "kernel.so");
  if (code == 0 && !library.empty()) return library;
  return std::unexpected(fmt::format("can not compile `{}`:\n{}", written,
                                     message(text_of(here / "output"), here.string(), absolute, written)));
}

/// What has been loaded once stays: it may have made objects whose destructors run when the process ends. Its file
/// stays open, as dlopen knows libraries by their names, which have the number of the file.
std::expected<vm::AppKernelCode, std::string> loaded(const vm::ForeignFunction& function, const std::string& library) {
  vm::FileDescriptor file(memfd_create("raddle_app_kernel", MFD_CLOEXEC));
  if (!file || vm::write_all(file.get(), library) != 0)
    return std::unexpected(fmt::format("no memory for the code of `{}`: {}", function.code, vm::error_text(errno)));
  void* const handle = dlopen(fmt::format("/proc/self/fd/{}", file.release()).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const code = handle == nullptr ? nullptr : dlsym(handle, call_symbol(function).c_str());
  if (code == nullptr)
    return std::unexpected(fmt::format("can not load the code of `{}`: {}", function.code, dlerror()));
  return reinterpret_cast<vm::AppKernelCode>(code);
}

}  // namespace

std::expected<vm::AppKernelCode, std::string> ClangCompiler::load(const vm::ForeignFunction& function) {
  const std::scoped_lock lock(mutex_);
  const auto known = loaded_.find(&function);
  return known != loaded_.end() ? known->second : loaded_.emplace(&function, load_anew(function)).first->second;
}

ClangCompiler::Loaded ClangCompiler::load_anew(const vm::ForeignFunction& function) {
  std::error_code error;
  const std::string absolute = fs::absolute(function.library, error).lexically_normal().string();
  if (absolute.find_first_of("\"\\\n") != std::string::npos)
    return std::unexpected(fmt::format("`{}` has a name that C++ can not include", function.library));
  const std::string call = call_text(function, absolute);
  constexpr int most_attempts = 3;
  for (int attempt = 0;; ++attempt) {
    const auto sources = kernel_sources(function.library);
    if (!sources) return std::unexpected(fmt::format("can not read `{}`: {}", function.library, sources.error()));
    std::string key = fmt::format("AppKernel {}\n{}\n{}\n{}", codegen::cpu_identity(), flags, kernel_header(), call);
    for (const SourceFile& file : *sources) key += fmt::format("\n{}\n{}", file.path, file.text);
    // one process has the code of each key once, however many programs of a session call it
    static std::mutex process_mutex;
    static std::unordered_map<std::string, vm::AppKernelCode> process_codes;
    const std::scoped_lock lock(process_mutex);
    if (const auto known = process_codes.find(key); known != process_codes.end()) return known->second;
    if (!cache_) cache_.emplace(cache_folder_);
    std::optional<std::string> library = cache_->find(key);
    if (!library) {
      auto made = compiled(function.library, absolute, call);
      if (!made) return std::unexpected(std::move(made.error()));
      if (kernel_sources(function.library) != sources) {  // clang may have read either text
        if (attempt + 1 < most_attempts) continue;
        return std::unexpected(fmt::format("`{}` changes while it is compiled", function.library));
      }
      library = std::move(*made);
      cache_->store(key, *library);
    }
    const Loaded code = loaded(function, *library);
    if (code) process_codes.emplace(std::move(key), *code);
    return code;
  }
}

}  // namespace raddle::appkernel
