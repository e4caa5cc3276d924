#include <doctest/doctest.h>

#include <future>
#include <memory>

#include "compiler/codegen/load_plugin.hpp"

namespace raddle::codegen {

TEST_CASE("without the plugin every leaf is answered: it is interpreted") {
  TypeStore types;
  ir::Module module;
  module.types = &types;
  const LeafSource source = {&module, [](std::uint32_t) { return std::string_view(); }};
  LazyLeafCompiler compiler(source, "/nowhere/libraddle_codegen.so");
  for (vm::LeafId leaf = 0; leaf < 3; ++leaf) {
    auto answer = std::make_shared<std::promise<raddle_leaf_function>>();
    compiler.request(leaf, [answer](raddle_leaf_function code) { answer->set_value(code); });
    CHECK(!answer->get_future().get());
  }
  const auto text = leaf_llvm_text(source, /*optimised=*/false, "/nowhere/libraddle_codegen.so");
  REQUIRE(!text);
  CHECK(text.error().find("/nowhere/libraddle_codegen.so") != std::string::npos);
}

}  // namespace raddle::codegen
