#include "compiler/codegen/load_plugin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "compiler/codegen/build_id.hpp"
#include "compiler/codegen/plugin.hpp"

namespace raddle::codegen {
namespace {

std::string path_beside_executable() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? plugin_file : executable.parent_path() / plugin_file;
}

std::expected<void*, std::string> find_symbol(const std::string& path, const char* symbol) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  void* address = library ? dlsym(library, symbol) : nullptr;
  if (!address) return std::unexpected(std::string(dlerror()));
  return address;
}

void keep_text(void* receiver, const char* given, std::uint64_t size_bytes) {
  static_cast<std::string*>(receiver)->assign(given, size_bytes);
}

}  // namespace

Plugin::Plugin(std::string path) : path_(path.empty() ? path_beside_executable() : std::move(path)) {}

std::string Plugin::identity() const { return build_id(path_); }

std::expected<LeafImage, std::string> Plugin::compile(const LeafSource& source, ir::FunctionId leaf) const {
  const auto symbol = find_symbol(path_, "raddle_codegen_compile");
  if (!symbol) return std::unexpected(symbol.error());
  std::string bytes;
  if (!reinterpret_cast<CompileLeaf>(*symbol)(&source, plugin_version, leaf, keep_text, &bytes))
    return std::unexpected(bytes);
  auto image = image_from_bytes(bytes);
  if (!image) return std::unexpected("the plugin's code is malformed");
  return std::move(*image);
}

std::expected<std::string, std::string> Plugin::llvm_text(const LeafSource& source, bool optimised) const {
  const auto symbol = find_symbol(path_, "raddle_codegen_llvm_text");
  if (!symbol) return std::unexpected(symbol.error());
  std::string text;
  if (!reinterpret_cast<GetLlvmText>(*symbol)(&source, plugin_version, optimised, keep_text, &text))
    return std::unexpected(text);
  return text;
}

}  // namespace raddle::codegen
