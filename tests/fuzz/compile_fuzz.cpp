// What libFuzzer calls: text through the whole compiler, up to the VM program. Scripts with errors must be refused with
// messages; a script without errors must come through every stage, and its IR be the same after printing and reading.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "compiler/tool/command/session.hpp"
#include "compiler/tool/process/stack_room.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/ir/print.hpp"
#include "compiler/ir/read_text.hpp"
#include "compiler/ir/verify.hpp"
#include "vm/program/disassemble.hpp"

namespace raddle {

namespace {

[[noreturn]] void fail(std::string_view what, std::string_view details) {
  std::fprintf(stderr, "fuzz: %.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(details.size()), details.data());
  std::abort();
}

void read_back(const ir::Module& module) {
  const std::string text = ir::print(module);
  TypeStore types;
  const auto read = ir::read_text(text, types);
  if (!read) fail("the printed IR can not be read: " + read.error(), text);
  for (const std::string& problem : ir::verify(*read)) fail("the IR that was read is wrong: " + problem, text);
  if (const std::string again = ir::print(*read); again != text) fail("the IR changes when it is read", text + again);
}

void compile_text(std::string text, int optimisation) {
  tool::Session session;
  session.options.optimisation = optimisation;
  session.options.verify_each = true;
  const std::uint32_t file = session.sources.add("fuzz.df", std::move(text));
  const auto compilation = tool::compile(session, file);
  for (const Diagnostic& diagnostic : session.diagnostics.all())
    if (render(diagnostic, session.sources, false).empty()) fail("an empty message", "");
  if (!compilation) {
    if (!session.diagnostics.has_errors()) fail("refused without a message", "");
    return;
  }
  read_back(compilation->module);
  vm::disassemble(emit_program(compilation->module));
}

}  // namespace

}  // namespace raddle

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // the level from the text, so that an input always does the same
  return raddle::tool::with_stack_room([&] {
    raddle::compile_text(std::string(reinterpret_cast<const char*>(data), size), size % 2 == 0 ? 2 : 0);
    return 0;
  });
}
