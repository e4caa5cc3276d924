#include "compiler/tool/executable/compile.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include "compiler/check/check.hpp"
#include "compiler/tool/executable/check_kernel_names.hpp"
#include "compiler/tool/executable/check_placement.hpp"
#include "compiler/tool/executable/load_modules.hpp"
#include "compiler/emit/check_kernels.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/opt/pipeline.hpp"
#include "stdlib/definitions.hpp"

namespace raddle::tool {

static std::unique_ptr<CheckedProgram> check_with_axes(Session& session, std::uint32_t file, const TextToCompile& what,
                                                       unsigned most_axes) {
  LoadedModules loaded = load_modules(session, file, what.text, most_axes);
  if (!loaded.are_well_formed) return nullptr;
  if (what.piece) {
    for (const auto& module : loaded.modules)
      if (what.piece->modules_run.contains(module->file)) module->statements.statements.clear();
  }
  const CheckOptions options{.piece = what.piece, .is_module_missing = loaded.is_one_missing};
  auto checked =
      std::make_unique<CheckedProgram>(check(std::move(loaded.modules), session.sources, session.diagnostics, options));
  if (session.diagnostics.has_errors()) return nullptr;
  return checked;
}

std::unique_ptr<CheckedProgram> check_file(Session& session, std::uint32_t file, const TextToCompile& what) {
  const Diagnostics before = session.diagnostics;
  std::unique_ptr<CheckedProgram> checked = check_with_axes(session, file, what, 0);
  const auto unfit_calls = [&session] {
    std::set<std::pair<std::uint32_t, std::uint32_t>> calls;
    for (const Diagnostic& each : session.diagnostics.all())
      if (each.kind == DiagnosticKind::no_overload) calls.emplace(each.span.file, each.span.begin);
    return calls;
  };
  const auto unfit = unfit_calls();
  if (checked || unfit.empty()) return checked;
  // of the library there is what the text tells of: arrays may have more axes than it shows
  Diagnostics found = std::exchange(session.diagnostics, before);
  checked = check_with_axes(session, file, what, stdlib::most_axes);
  if (unfit_calls() == unfit) session.diagnostics = std::move(found);  // the candidates are fewer
  return checked;
}

std::optional<Compilation> compile(Session& session, std::uint32_t file, const TextToCompile& what) {
  Compilation compilation;
  compilation.checked = check_file(session, file, what);
  if (!compilation.checked) return std::nullopt;
  compilation.module = lower(*compilation.checked, session.sources, session.diagnostics);
  check_kernel_names(compilation.module, session.diagnostics);
  if (session.diagnostics.has_errors()) return std::nullopt;
  if (!what.entry.empty()) compilation.module.entry = compilation.module.find(what.entry);
  if (what.prepare) what.prepare(*compilation.checked, compilation.module);
  opt::Options options;
  options.level = session.options.optimisation;
  options.print_after = session.options.print_after;
  options.disabled = {session.options.disabled_passes.begin(), session.options.disabled_passes.end()};
  for (const std::string_view pass : opt::passes_without(session.options.fusion)) options.disabled.emplace(pass);
  options.verify_each |= session.options.verify_each;
  opt::optimise(compilation.module, options, session.diagnostics);
  if (session.diagnostics.has_errors()) return std::nullopt;
  if (options.verify_each) emit::check_kernels(compilation.module);
  if (options.level > 0)  // without, loops are no launches
    check_placement(compilation.module, session.sources, session.diagnostics);
  return compilation;
}

}  // namespace raddle::tool
