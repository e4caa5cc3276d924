#include "compiler/codegen/plugin.hpp"

#include <expected>
#include <string>

#include "compiler/codegen/compile_leaves.hpp"

namespace codegen = raddle::codegen;

namespace {

using Text = std::expected<std::string, std::string>;

Text other_build() { return std::unexpected(std::string(codegen::plugin_file) + " is of another build of raddle"); }

bool give(const Text& text, codegen::TextReceiver receive, void* receiver) {
  const std::string& given = text ? *text : text.error();
  receive(receiver, given.data(), given.size());
  return text.has_value();
}

Text compiled(const codegen::LeafSource& source, raddle::ir::FunctionId leaf) {
  const auto image = codegen::compile_leaf(source, leaf);
  if (!image) return std::unexpected(image.error());
  return codegen::to_bytes(*image);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_compile(const codegen::LeafSource* source,
                                                                              std::uint32_t version,
                                                                              raddle::ir::FunctionId leaf,
                                                                              codegen::TextReceiver receive,
                                                                              void* receiver) {
  return give(version == codegen::plugin_version ? compiled(*source, leaf) : other_build(), receive, receiver);
}

extern "C" __attribute__((visibility("default"))) bool raddle_codegen_llvm_text(const codegen::LeafSource* source,
                                                                                std::uint32_t version, bool optimised,
                                                                                codegen::TextReceiver receive,
                                                                                void* receiver) {
  const codegen::LlvmText form = optimised ? codegen::LlvmText::optimised : codegen::LlvmText::generated;
  return give(version == codegen::plugin_version ? codegen::llvm_text(*source, form) : other_build(), receive,
              receiver);
}
