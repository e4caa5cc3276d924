#include "compiler/codegen/load_plugin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "compiler/codegen/plugin.hpp"

namespace raddle::codegen {
namespace {

std::string path_beside_executable() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? plugin_file : executable.parent_path() / plugin_file;
}

/// Never unloaded: LLVM keeps state of the process, and compiled code may still be running.
std::expected<void*, std::string> find_symbol(const std::string& plugin_path, const char* symbol) {
  const std::string path = plugin_path.empty() ? path_beside_executable() : plugin_path;
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  void* address = library ? dlsym(library, symbol) : nullptr;
  if (!address) return std::unexpected(std::string(dlerror()));
  return address;
}

}  // namespace

LazyLeafCompiler::LazyLeafCompiler(const LeafSource& source, std::string plugin_path)
    : source_(source), plugin_path_(std::move(plugin_path)) {}

LazyLeafCompiler::~LazyLeafCompiler() {
  if (thread_.joinable()) thread_.join();
}

void LazyLeafCompiler::request(vm::LeafId leaf, std::function<void(raddle_leaf_function)> done) {
  {
    const std::scoped_lock lock(mutex_);
    switch (state_) {
      case State::asleep:
        state_ = State::loading;
        thread_ = std::jthread([this] { load(); });
        [[fallthrough]];
      case State::loading: return waiting_.push_back({leaf, std::move(done)});
      case State::loaded: return compiler_->request(leaf, std::move(done));
      case State::not_available: break;
    }
  }
  done(nullptr);
}

void LazyLeafCompiler::load() {
  const auto create = find_symbol(plugin_path_, "raddle_codegen_create");
  std::unique_ptr<vm::LeafCompiler> compiler(
      create ? reinterpret_cast<CreateCompiler>(*create)(&source_, plugin_version) : nullptr);
  std::vector<Request> refused;
  {
    const std::scoped_lock lock(mutex_);
    compiler_ = std::move(compiler);
    state_ = compiler_ ? State::loaded : State::not_available;
    if (!compiler_) refused.swap(waiting_);
    for (Request& request : waiting_) compiler_->request(request.leaf, std::move(request.done));
    waiting_.clear();
  }
  for (Request& request : refused) request.done(nullptr);
}

std::expected<std::string, std::string> leaf_llvm_text(const LeafSource& source, bool optimised,
                                                       std::string plugin_path) {
  const auto symbol = find_symbol(plugin_path, "raddle_codegen_llvm_text");
  if (!symbol) return std::unexpected(symbol.error());
  std::string text;
  const TextReceiver receive = [](void* receiver, const char* given, std::uint64_t size_bytes) {
    static_cast<std::string*>(receiver)->assign(given, size_bytes);
  };
  if (!reinterpret_cast<GetLlvmText>(*symbol)(&source, plugin_version, optimised, receive, &text)) {
    return std::unexpected(text);
  }
  return text;
}

}  // namespace raddle::codegen
