#include "compiler/codegen/plugin.hpp"

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "compiler/codegen/compile_kernels.hpp"
#include "compiler/codegen/nvptx/ptx_text.hpp"
#include "compiler/codegen/nvptx/super_ptx_text.hpp"
#include "vm/kernel/kernel_bytes.hpp"

namespace codegen = raddle::codegen;
namespace vm = raddle::vm;

namespace {

using Text = std::expected<std::string, std::string>;

bool give(const Text& text, codegen::TextReceiver receive, void* receiver) {
  const std::string& given = text ? *text : text.error();
  receive(receiver, given.data(), given.size());
  return text.has_value();
}

std::expected<vm::KernelGroup, std::string> kernels_of(const codegen::PluginRequest& request, std::uint32_t version) {
  if (version != codegen::plugin_version)
    return std::unexpected(std::string(codegen::plugin_file) + " is of another build of raddle");
  return vm::read_kernel_bytes({request.kernels, request.size_bytes});
}

Text compiled(const codegen::PluginRequest& request, std::uint32_t version) {
  const auto kernels = kernels_of(request, version);
  if (!kernels) return std::unexpected(kernels.error());
  const auto image = codegen::compile_kernel(*kernels, request.entries[0], request.unrolls_recursion);
  if (!image) return std::unexpected(image.error());
  return codegen::to_bytes(*image);
}

Text text_of(const codegen::PluginRequest& request, std::uint32_t version, codegen::LlvmText form) {
  const auto kernels = kernels_of(request, version);
  if (!kernels) return std::unexpected(kernels.error());
  return codegen::llvm_text(*kernels, {request.entries, kernels->size()}, request.unrolls_recursion, form);
}

Text ptx_of(const codegen::PluginRequest& request, std::uint32_t version) {
  const auto kernels = kernels_of(request, version);
  if (!kernels) return std::unexpected(kernels.error());
  return codegen::ptx_text(*kernels, request.entries[0]);
}

Text super_ptx_of(std::span<const codegen::PluginRequest> requests, std::uint32_t version) {
  std::vector<vm::RangeKernel> ranges;
  for (const codegen::PluginRequest& request : requests) {
    auto kernels = kernels_of(request, version);
    if (!kernels) return std::unexpected(kernels.error());
    ranges.push_back({std::move(*kernels), request.entries[0]});
  }
  return codegen::super_ptx_text(ranges);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_compile(const codegen::PluginRequest* request,
                                                                              std::uint32_t version,
                                                                              codegen::TextReceiver receive,
                                                                              void* receiver) {
  return give(compiled(*request, version), receive, receiver);
}

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_llvm_text(const codegen::PluginRequest* request,
                                                                                std::uint32_t version, bool optimised,
                                                                                codegen::TextReceiver receive,
                                                                                void* receiver) {
  const codegen::LlvmText form = optimised ? codegen::LlvmText::optimised : codegen::LlvmText::generated;
  return give(text_of(*request, version, form), receive, receiver);
}

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_ptx(const codegen::PluginRequest* request,
                                                                          std::uint32_t version,
                                                                          codegen::TextReceiver receive,
                                                                          void* receiver) {
  return give(ptx_of(*request, version), receive, receiver);
}

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_super_ptx(const codegen::PluginRequest* requests,
                                                                                std::uint64_t count,
                                                                                std::uint32_t version,
                                                                                codegen::TextReceiver receive,
                                                                                void* receiver) {
  return give(super_ptx_of({requests, count}, version), receive, receiver);
}
