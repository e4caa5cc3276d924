#include "compiler/codegen/load_plugin.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "compiler/codegen/build_id.hpp"
#include "compiler/codegen/plugin.hpp"

namespace raddle::codegen {
namespace {

/// As built, beside the executable; as installed, in lib/raddle beside its folder.
std::string usual_path() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return plugin_file;
  const std::filesystem::path installed = folder.parent_path() / "lib" / "raddle" / plugin_file;
  return std::filesystem::exists(folder / plugin_file, error) ? folder / plugin_file : installed;
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

Plugin::Plugin(std::string path) : path_(path.empty() ? usual_path() : std::move(path)) {}

std::string Plugin::identity() const { return build_id(path_); }

std::expected<LeafImage, std::string> Plugin::compile(const CodeRequest& request) const {
  const auto symbol = find_symbol(path_, "raddle_codegen_compile");
  if (!symbol) return std::unexpected(symbol.error());
  const PluginRequest asked = {request.kernels.data(), request.kernels.size(), &request.entry,
                               request.unrolls_recursion};
  std::string bytes;
  if (!reinterpret_cast<CompileKernel>(*symbol)(&asked, plugin_version, keep_text, &bytes))
    return std::unexpected(bytes);
  auto image = image_from_bytes(bytes);
  if (!image) return std::unexpected("the plugin's code is malformed");
  return std::move(*image);
}

std::expected<std::string, std::string> Plugin::ptx(const std::string& kernels, vm::KernelEntry entry) const {
  const auto symbol = find_symbol(path_, "raddle_codegen_ptx");
  if (!symbol) return std::unexpected(symbol.error());
  const PluginRequest asked = {kernels.data(), kernels.size(), &entry, false};
  std::string text;
  if (!reinterpret_cast<GetPtx>(*symbol)(&asked, plugin_version, keep_text, &text)) return std::unexpected(text);
  return text;
}

std::expected<std::string, std::string> Plugin::super_ptx(std::span<const CodeRequest> ranges) const {
  const auto symbol = find_symbol(path_, "raddle_codegen_super_ptx");
  if (!symbol) return std::unexpected(symbol.error());
  std::vector<PluginRequest> asked;
  for (const CodeRequest& range : ranges)
    asked.push_back({range.kernels.data(), range.kernels.size(), &range.entry, false});
  std::string text;
  if (!reinterpret_cast<GetSuperPtx>(*symbol)(asked.data(), asked.size(), plugin_version, keep_text, &text))
    return std::unexpected(text);
  return text;
}

std::expected<std::string, std::string> Plugin::llvm_text(const std::string& kernels,
                                                          std::span<const vm::KernelEntry> entries,
                                                          bool unrolls_recursion, bool optimised) const {
  const auto symbol = find_symbol(path_, "raddle_codegen_llvm_text");
  if (!symbol) return std::unexpected(symbol.error());
  const PluginRequest asked = {kernels.data(), kernels.size(), entries.data(), unrolls_recursion};
  std::string text;
  if (!reinterpret_cast<GetLlvmText>(*symbol)(&asked, plugin_version, optimised, keep_text, &text))
    return std::unexpected(text);
  return text;
}

}  // namespace raddle::codegen
