#include "compiler/codegen/plugin.hpp"

#include "compiler/codegen/background_compiler.hpp"

namespace codegen = raddle::codegen;

extern "C" __attribute__((visibility("default"))) raddle::vm::LeafCompiler* raddle_codegen_create(
    const codegen::LeafSource* source, std::uint32_t version) {
  if (version != codegen::plugin_version) return nullptr;
  return new codegen::BackgroundCompiler(*source);
}

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_llvm_text(const codegen::LeafSource* source,
                                                                                std::uint32_t version, bool optimised,
                                                                                codegen::TextReceiver receive,
                                                                                void* receiver) {
  const auto text =
      version != codegen::plugin_version
          ? std::unexpected(std::string(codegen::plugin_file) + " is of another build of raddle")
          : codegen::llvm_text(*source, optimised ? codegen::LlvmText::optimised : codegen::LlvmText::generated);
  const std::string& given = text ? *text : text.error();
  receive(receiver, given.data(), given.size());
  return text.has_value();
}
