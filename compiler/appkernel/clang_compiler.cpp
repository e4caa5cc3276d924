#include "compiler/appkernel/clang_compiler.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <vector>

#include "compiler/appkernel/call_text.hpp"
#include "compiler/appkernel/compiler_message.hpp"
#include "compiler/appkernel/kernel_headers.hpp"
#include "compiler/appkernel/library_code.hpp"
#include "compiler/codegen/cpu_identity.hpp"
#include "compiler/source/kernel_sources.hpp"
#include "compiler/source/read_file.hpp"
#include "vm/value/environment.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::appkernel {
namespace {

namespace fs = std::filesystem;

// No a*b + c is contracted: results have the same bits on every processor. Functions of raddle_kernel_math.h are
// called, as if they might set errno, and not computed by the compiler, which has others; those of the library itself
// come first. Warnings are left out: they would come before the error that is told.
constexpr const char* common_flags = "-x c++ -std=c++20 -O3 -ffp-contract=off -fmath-errno -fno-color-diagnostics -w";
constexpr const char* host_flags = "-fPIC -shared -Wl,-Bsymbolic -march=";
// That of compiler/codegen/nvptx. Headers of the system are told that they are for this processor. What throws is found
// by what it calls.
constexpr const char* gpu_flags =
    "--target=nvptx64-nvidia-cuda -march=sm_70 --cuda-feature=+ptx78 -S -nogpulib -fconvergent-functions "
    "-fignore-exceptions -fno-rtti -D_GNU_SOURCE -D__x86_64__=1";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string no_builtins() {
  std::string flags;
#define RADDLE_MATH_FUNCTION(name, arguments) flags += " -fno-builtin-" #name;
#include "vm/math/functions.def"
#undef RADDLE_MATH_FUNCTION
  return flags;
}

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
  for (char* const variable : vm::environment())
    if (!std::string_view(variable).starts_with("TMPDIR=")) variables.push_back(variable);
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

std::string no_compiler() {
  return fmt::format(
      "AppKernels are compiled by clang++-19, which can not be started: {}; on Debian it is in the package clang-19",
      vm::error_text(errno));
}

/// Where the compiler looks for headers of this system. @return empty: it can not be asked
std::vector<std::string> header_folders(const fs::path& here) {
  if (!write_text(here / "nothing.cpp", "") ||
      run_program({"clang++-19", "-x", "c++", "-E", "-v", (here / "nothing.cpp").string()}, here) != 0)
    return {};
  std::istringstream lines(text_of(here / "output"));
  std::vector<std::string> folders;
  for (std::string line; std::getline(lines, line) && line != "End of search list.";)
    if (line.starts_with(" /")) folders.push_back(line.substr(1));
  return folders;
}

/// What clang is to make of a kernel.
struct Order {
  const vm::ForeignFunction& function;
  std::string included;   ///< its file, as `#include` is to have it
  std::string call;       ///< call_text()
  std::string processor;  ///< what the code is for
  std::string flags;
  bool is_for_gpu = false;

  /// Of all that the code comes from.
  std::string key(const std::vector<SourceFile>& sources) const {
    std::string key = fmt::format("AppKernel {}\n{} {}\n{}", processor, common_flags, flags, call);
    for (const KernelHeader& header : kernel_headers()) key += fmt::format("\n{}", header.text);
    for (const SourceFile& file : sources) key += fmt::format("\n{}\n{}", file.path, file.text);
    return key;
  }
};

/// The bytes of a shared library, or a text in PTX. @error  why there are none
std::expected<std::string, std::string> compiled(const Order& order) {
  const std::string& written = order.function.library;
  const TemporaryFolder folder;
  const fs::path& here = folder.path();
  std::error_code error;
  bool is_there =
      !here.empty() && fs::create_directories(here / "vm/math", error) && write_text(here / "call.cpp", order.call);
  for (const KernelHeader& header : kernel_headers())
    is_there = is_there && write_text(here / header.path, header.text);
  if (!is_there) return std::unexpected(fmt::format("no temporary files to compile `{}` with", written));
  std::vector<std::string> words =
      words_of(fmt::format("clang++-19 {} {} {}", common_flags, no_builtins(), order.flags));
  for (const fs::path& word : {fs::path("-I"), here, fs::path("-o"), here / "code", here / "call.cpp"})
    words.push_back(word.string());  // may have blanks
  if (order.is_for_gpu)
    for (std::string& header_folder : header_folders(here)) words.insert(words.end(), {"-isystem", header_folder});
  const int code = run_program(words, here);
  if (code < 0) return std::unexpected(no_compiler());
  std::string made = text_of(here / "code");
  if (code == 0 && !made.empty()) return made;
  return std::unexpected(compiler_message(
      text_of(here / "output"),
      {.written = written, .absolute = order.included, .kernel = order.function.code, .folder = here.string()}));
}

/// The first word behind a predicate: "atom.add.u64".
std::string_view instruction_of(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size())); };
  skip_blanks();
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find_first_of(blanks), line.size()));
  skip_blanks();
  return line.substr(0, line.find_first_of(" \t;"));
}

/// Of a function of C++ as it is written, of others the symbol.
std::string name_in_source(const std::string& symbol) {
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                         &std::free);
  return name ? name.get() : symbol;
}

/// Why no GPU gets the text, in words for the user; "": one may.
std::string obstacle_in(std::string_view ptx) {
  std::istringstream lines{std::string(ptx)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".extern ")) {
      const std::size_t end = line.find_last_not_of(" ();,"), begin = line.find_last_of(" \t", end) + 1;
      return fmt::format("it needs `{}`, which GPUs do not have", name_in_source(line.substr(begin, end + 1 - begin)));
    }
    const std::string_view instruction = instruction_of(line);
    if (instruction == "trap" || instruction == "brkpt")
      return "it may trap, which would end all that the GPU computes";
    // LLVM 19 leaves out the order of those that read and write, whatever it is
    const bool is_atomic = instruction.starts_with("atom.") || instruction.starts_with("red.");
    if (is_atomic && !instruction.contains(".relaxed.") && !instruction.contains(".acq"))
      return "it has atomic operations of C++, whose order clang leaves out for GPUs: `raddle::add` is there";
  }
  return "";
}

/// Of what `#include` names: of the library's own files `<name>`, else the absolute path.
std::string included(const vm::ForeignFunction& function) {
  const std::string& file = function.library;
  if (file.starts_with('<')) return file.substr(1, file.find('>') - 1);
  std::error_code error;
  return fs::absolute(file, error).lexically_normal().string();
}

/// Those of the library are the same as long as the tool is.
std::expected<std::vector<SourceFile>, std::string> sources_of(const vm::ForeignFunction& function) {
  if (function.library.starts_with('<')) return {};
  return kernel_sources(included(function));
}

bool is_of_library(const vm::ForeignFunction& function) { return function.library.starts_with('<'); }

/// @error  it can not be compiled
std::expected<Order, std::string> order_for(const vm::ForeignFunction& function, std::string processor,
                                            std::string flags) {
  std::string file = included(function);
  if (file.find_first_of("\"\\\n") != std::string::npos)
    return std::unexpected(fmt::format("`{}` has a name that C++ can not include", function.library));
  std::string call = call_text(function, file);
  return Order{function, std::move(file), std::move(call), std::move(processor), std::move(flags)};
}
std::expected<Order, std::string> order_for_gpu(const vm::ForeignFunction& function) {
  auto order = order_for(function, "on a GPU", gpu_flags);
  if (order) order->is_for_gpu = true;
  return order;
}
std::expected<Order, std::string> library_order(const vm::ForeignFunction& function, const char* instructions) {
  return order_for(function, "of the library", std::string(host_flags) + instructions);
}
std::expected<Order, std::string> order_for_host(const vm::ForeignFunction& function) {
  if (is_of_library(function)) return library_order(function, library_instructions());
  return order_for(function, codegen::cpu_identity(), std::string(host_flags) + "native");
}

std::expected<Order, std::string> order_for_lanes(const vm::ForeignFunction& function) {
  return order_for(function, codegen::cpu_identity(), std::string("-DRADDLE_LANES -pthread ") + host_flags + "native");
}

/// Of LibraryCode.
std::string library_name(const Order& order) {
  return fmt::format("{}.{}", order.function.code,
                     order.is_for_gpu ? "ptx" : order.flags.substr(order.flags.rfind('=') + 1));
}

/// What has been loaded once stays: it may have made objects whose destructors run when the process ends. Its file
/// stays open, as dlopen knows libraries by their names, which have the number of the file.
std::expected<vm::AppKernelCode, std::string> loaded(const vm::ForeignFunction& function, const std::string& library,
                                                     const std::string& symbol) {
  vm::FileDescriptor file(memfd_create("raddle_app_kernel", MFD_CLOEXEC));
  if (!file || vm::write_all(file.get(), library) != 0)
    return std::unexpected(fmt::format("no memory for the code of `{}`: {}", function.code, vm::error_text(errno)));
  void* const handle = dlopen(fmt::format("/proc/self/fd/{}", file.get()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) file.release();
  void* const code = handle == nullptr ? nullptr : dlsym(handle, symbol.c_str());
  if (code == nullptr)
    return std::unexpected(fmt::format("can not load the code of `{}`: {}", function.code, dlerror()));
  return reinterpret_cast<vm::AppKernelCode>(code);
}

}  // namespace

std::expected<vm::AppKernelCode, std::string> ClangCompiler::load(const vm::ForeignFunction& function) {
  return load_once(function, Target::host, loaded_);
}

std::expected<vm::AppKernelCode, std::string> ClangCompiler::load_check(const vm::ForeignFunction& function) {
  return checks_ ? load_once(function, Target::lanes, loaded_checks_) : nullptr;
}

ClangCompiler::Loaded ClangCompiler::load_once(const vm::ForeignFunction& function, Target target, KnownCode& known) {
  const std::scoped_lock lock(mutex_);
  const auto found = known.find(&function);
  return found != known.end() ? found->second : known.emplace(&function, load_anew(function, target)).first->second;
}

ClangCompiler::Loaded ClangCompiler::load_anew(const vm::ForeignFunction& function, Target target) {
  std::expected<Made, std::string> library = made(function, target);
  if (!library) return std::unexpected(std::move(library.error()));
  // one process has the code of each key once, however many programs of a session call it
  static std::mutex process_mutex;
  static std::unordered_map<std::string, vm::AppKernelCode> process_codes;
  const std::scoped_lock lock(process_mutex);
  if (const auto known = process_codes.find(library->key); known != process_codes.end()) return known->second;
  const Loaded code =
      loaded(function, library->code, target == Target::lanes ? check_symbol(function) : call_symbol(function));
  if (code) process_codes.emplace(std::move(library->key), *code);
  return code;
}

std::expected<std::string, std::string> ClangCompiler::ptx(const vm::ForeignFunction& function) {
  std::expected<Made, std::string> text = made(function, Target::gpu);
  if (!text) return std::unexpected(line_with_fault(text.error()));
  if (std::string obstacle = obstacle_in(text->code); !obstacle.empty()) return std::unexpected(std::move(obstacle));
  return std::move(text->code);
}

void ClangCompiler::request_ptx(const vm::ForeignFunction& function, PtxReceiver done) {
  const std::scoped_lock lock(requests_mutex_);
  requests_.emplace_back(&function, std::move(done));
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  requested_.notify_one();
}

void ClangCompiler::work(const std::stop_token& stop) {
  std::unordered_map<const vm::ForeignFunction*, std::expected<std::string, std::string>> made;  // many runs may ask
  while (true) {
    std::unique_lock lock(requests_mutex_);
    if (!requested_.wait(lock, stop, [this] { return !requests_.empty(); })) return;
    const auto [function, done] = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    auto known = made.find(function);
    if (known == made.end()) known = made.emplace(function, ptx(*function)).first;
    if (stop.stop_requested()) return;
    done(known->second);
  }
}

std::optional<std::string> ClangCompiler::find(const std::string& key) {
  const std::scoped_lock lock(cache_mutex_);
  if (!cache_) cache_.emplace(cache_folder_);
  return cache_->find(key);
}

void ClangCompiler::store(const Made& made) {
  const std::scoped_lock lock(cache_mutex_);
  cache_->store(made.key, made.code);
}

std::expected<ClangCompiler::Made, std::string> ClangCompiler::made(const vm::ForeignFunction& function,
                                                                    Target target) {
  const auto order = target == Target::gpu     ? order_for_gpu(function)
                     : target == Target::lanes ? order_for_lanes(function)
                                               : order_for_host(function);
  if (!order) return std::unexpected(order.error());
  constexpr int most_attempts = 3;
  for (int attempt = 0;; ++attempt) {
    const auto sources = sources_of(function);
    if (!sources) return std::unexpected(fmt::format("can not read `{}`: {}", function.library, sources.error()));
    Made made{.key = order->key(*sources), .code = {}};
    std::optional<std::string> known = is_of_library(function) && target != Target::lanes
                                           ? LibraryCode().find(library_name(*order), made.key)
                                           : std::nullopt;
    if (!known) known = find(made.key);
    if (known) {
      made.code = std::move(*known);
      return made;
    }
    auto code = compiled(*order);
    if (!code) return std::unexpected(std::move(code.error()));
    if (sources_of(function) != sources) {  // clang may have read either text
      if (attempt + 1 < most_attempts) continue;
      return std::unexpected(fmt::format("`{}` changes while it is compiled", function.library));
    }
    made.code = std::move(*code);
    store(made);
    return made;
  }
}

std::string make_library_code(const vm::ForeignFunction& function, const std::string& folder) {
  const LibraryCode there(folder);
  std::vector<std::expected<Order, std::string>> orders{order_for_gpu(function)};
  for (const char* instructions : library_instruction_sets) orders.push_back(library_order(function, instructions));
  for (const auto& order : orders) {
    if (!order) return order.error();
    const std::string key = order->key({}), name = library_name(*order);
    if (there.find(name, key)) continue;
    const auto code = compiled(*order);
    if (!code) return code.error();
    if (const std::string obstacle = order->is_for_gpu ? obstacle_in(*code) : ""; !obstacle.empty())
      return fmt::format("`{}` is not for GPUs: {}", function.code, obstacle);
    if (std::string problem = there.store(name, key, *code); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace raddle::appkernel
