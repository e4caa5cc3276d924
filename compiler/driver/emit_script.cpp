// `raddle run --emit=STAGE`: what a stage hands to the next one, as text on standard output.
#include "compiler/ast/print.hpp"
#include "compiler/check/print_checked.hpp"
#include "compiler/codegen/load_plugin.hpp"
#include "compiler/driver/builtin_names.hpp"
#include "compiler/driver/commands.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/load_modules.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/ir/print.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/parse/tokenize.hpp"
#include "vm/program/disassemble.hpp"

namespace raddle::driver {

namespace {

/// Text of the stage, or nothing if the stages before it reported errors.
std::string emit(Session& session, std::uint32_t file) {
  const std::string& stage = session.options.emit;
  if (stage == "preprocessed" || stage == "tokens" || stage == "ast") {
    const std::optional<ExpandedText> text = preprocess_script(session, file);
    const ExpandedText* const expanded = text ? &*text : nullptr;
    if (session.diagnostics.has_errors()) return {};
    if (stage == "tokens") return print_tokens(file, session.sources, session.diagnostics, expanded);
    if (stage == "ast") return ast::print(*parse(file, session.sources, session.diagnostics, expanded));
    return expanded == nullptr ? session.sources.at(file).text() : expanded->text();
  }
  if (stage == "checked" || stage == "ir") {
    const std::unique_ptr<CheckedProgram> checked = check_file(session, file);
    if (!checked) return {};
    if (stage == "checked") return print_checked(*checked, session.sources);
    return ir::print(lower(*checked, session.sources, session.diagnostics));
  }
  const std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) return {};
  if (stage == "opt") return ir::print(compilation->module);
  if (stage == "vm") return vm::disassemble(emit_program(compilation->module));
  const auto text = codegen::leaf_llvm_text({&compilation->module, builtin_name, session.options.inlining != "never"},
                                            session.options.optimisation > 0);
  return text ? *text : "; " + text.error() + "\n";
}

}  // namespace

int emit_script(Session& session, Script script) {
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  const std::string text = emit(session, file);
  const bool failed = session.print_diagnostics();
  if (failed) return exit_compile_error;
  return write_output(text) ? exit_ok : exit_failed;
}

}  // namespace raddle::driver
