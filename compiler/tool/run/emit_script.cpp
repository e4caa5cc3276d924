#include "compiler/tool/run/emit_script.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ast/print.hpp"
#include "compiler/check/print_checked.hpp"
#include "compiler/codegen/load_plugin.hpp"
#include "compiler/tool/executable/executable.hpp"
#include "compiler/tool/executable/compile.hpp"
#include "compiler/tool/executable/load_modules.hpp"
#include "compiler/tool/executable/script_place.hpp"
#include "compiler/emit/emit_kernel.hpp"
#include "compiler/emit/emit_program.hpp"
#include "compiler/ir/print.hpp"
#include "compiler/lower/lower.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/parse/tokenize.hpp"
#include "vm/device/launch_kernel.hpp"
#include "vm/kernel/kernel_bytes.hpp"
#include "vm/kernel/kernel_text.hpp"
#include "vm/program/disassemble.hpp"
#include "vm/program/written_place.hpp"

namespace raddle::tool {

namespace {

// Each: the text of a stage, or nothing if it or the stages before it reported errors.

template <typename Print>
std::string with_expanded(Session& session, std::uint32_t file, const Print& print) {
  const std::optional<ExpandedText> text = preprocess_script(session, file);
  return session.diagnostics.has_errors() ? "" : print(text ? &*text : nullptr);
}

std::string preprocessed_text(Session& session, std::uint32_t file) {
  return with_expanded(session, file, [&](const ExpandedText* expanded) {
    return std::string(expanded == nullptr ? session.sources.at(file).text() : expanded->text());
  });
}

std::string tokens_text(Session& session, std::uint32_t file) {
  return with_expanded(session, file, [&](const ExpandedText* expanded) {
    return print_tokens(file, session.sources, session.diagnostics, expanded);
  });
}

std::string ast_text(Session& session, std::uint32_t file) {
  return with_expanded(session, file, [&](const ExpandedText* expanded) {
    return ast::print(*parse(file, session.sources, session.diagnostics, expanded));
  });
}

std::string checked_text(Session& session, std::uint32_t file) {
  const std::unique_ptr<CheckedProgram> checked = check_file(session, file);
  return checked ? print_checked(*checked, session.sources) : "";
}

std::string ir_text(Session& session, std::uint32_t file) {
  const std::unique_ptr<CheckedProgram> checked = check_file(session, file);
  return checked ? ir::print(lower(*checked, session.sources, session.diagnostics)) : "";
}

std::string opt_text(Session& session, std::uint32_t file) {
  const std::optional<Compilation> compilation = compile(session, file);
  return compilation ? ir::print(compilation->module) : "";
}

/// All of the program, by index in the group.
vm::KernelGroup kernels_of(const vm::Program& program, std::vector<vm::KernelEntry>& entries) {
  std::vector<vm::KernelId> numbers(program.kernels.size());
  vm::KernelGroup kernels;
  for (vm::KernelId id = 0; id < program.kernels.size(); ++id) {
    if (!program.kernels[id].exists()) continue;
    numbers[id] = static_cast<vm::KernelId>(kernels.size());
    kernels.push_back(program.kernels[id]);
    entries.push_back(program.functions[id].kernel_entry);
  }
  for (vm::Kernel& kernel : kernels) vm::visit_callees(kernel, [&](vm::KernelId& callee) { callee = numbers[callee]; });
  return kernels;
}

std::string llvm_text(Session& session, std::uint32_t file) {
  const std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) return {};
  const vm::Program program = emit_program(compilation->module);
  std::vector<vm::KernelEntry> entries;
  const std::string kernels = vm::write_kernels(kernels_of(program, entries));
  const auto text = codegen::Plugin().llvm_text(kernels, entries, session.options.inlining != "never",
                                                session.options.optimisation > 0);
  return text ? *text : "; " + text.error() + "\n";
}

/// What a GPU would run of a loop, or of single calls of a function.
struct PartForGpus {
  std::string what;
  vm::Obstacle why_not;
  vm::CallPlace place;
  vm::RangeKernel kernel;  ///< if it is none
};

/// Functions that some instruction calls by themselves, of which devices would make the calls.
std::set<vm::FunctionId> called_singly(const vm::Program& program) {
  std::set<vm::FunctionId> all;
  for (const vm::Instruction& instruction : program.instructions) {
    if (vm::form_of(instruction.opcode) != vm::InstructionForm::call) continue;
    const vm::FunctionId called = program.calls[instruction.d].function;
    if (vm::takes_long(program, called) || vm::placement_of(program, called) == vm::Placement::gpu) all.insert(called);
  }
  return all;
}

/// Of each loop that only computes numbers, and of each function that takes long.
std::vector<PartForGpus> parts_for_gpus(const vm::Program& program) {
  std::vector<PartForGpus> parts;
  const auto place_of = [&](vm::Place place) {
    std::vector<vm::Place> chain;
    vm::add_written(program, place, chain);
    return vm::CallPlace{chain.front(), {chain.begin() + 1, chain.end()}};
  };
  for (const vm::ForeachSite& site : program.foreaches) {
    if (site.launch.leaf == vm::no_id) continue;
    const vm::Kernel& leaf = program.kernels[site.launch.leaf];
    PartForGpus& part = parts.emplace_back(
        PartForGpus{leaf.name, vm::obstacle_of(program, site), place_of(leaf.place), vm::RangeKernel()});
    if (!part.why_not.empty()) continue;
    vm::LaunchKernel kernel = vm::launch_kernel(program, site);
    part.kernel = {std::move(kernel.group), kernel.entry};
  }
  for (const vm::FunctionId called : called_singly(program)) {
    const vm::Function& function = program.functions[called];
    PartForGpus& part =
        parts.emplace_back(PartForGpus{function.name + ", single calls", vm::obstacle_of(program, called),
                                       place_of(function.place), vm::RangeKernel()});
    if (part.why_not.empty()) part.kernel = vm::call_kernel(program, called);
  }
  return parts;
}

/// Of each part: what a GPU would run, or why there is none.
std::string ptx_text(Session& session, std::uint32_t file) {
  const std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) return {};
  std::string text;
  for (const PartForGpus& part : parts_for_gpus(emit_program(compilation->module))) {
    text += "// " + part.what;
    if (!part.why_not.empty()) {
      text += ": " + text_of_obstacle(session.sources, part.why_not, part.place).with_place() + "\n";
      continue;
    }
    const auto ptx = codegen::Plugin().ptx(vm::write_kernels(part.kernel.group), part.kernel.entry);
    text += ptx ? "\n" + *ptx + "\n" : ": " + ptx.error() + "\n";
  }
  return text;
}

/// Of all those parts: what a GPU has of them with `--gpus all:resident`.
std::string super_text(Session& session, std::uint32_t file) {
  const std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) return {};
  std::vector<codegen::CodeRequest> ranges;
  for (const PartForGpus& part : parts_for_gpus(emit_program(compilation->module)))
    if (part.why_not.empty())
      ranges.push_back({.kernels = vm::write_kernels(part.kernel.group), .entry = part.kernel.entry});
  if (ranges.empty()) return "// nothing goes to GPUs\n";
  const auto ptx = codegen::Plugin().super_ptx(ranges);
  return ptx ? *ptx : "// " + ptx.error() + "\n";
}

std::string kernels_text(Session& session, std::uint32_t file) {
  const std::optional<Compilation> compilation = compile(session, file);
  if (!compilation) return {};
  const std::vector<vm::Kernel> kernels = emit::emit_kernels(compilation->module);
  std::string text;
  for (vm::KernelId id = 0; id < kernels.size(); ++id)
    if (kernels[id].exists()) text += vm::print_kernel(kernels[id], id);
  return text;
}

std::string vm_text(Session& session, std::uint32_t file) {
  const std::optional<Compilation> compilation = compile(session, file);
  return compilation ? vm::disassemble(emit_program(compilation->module)) : "";
}

struct Stage {
  std::string_view name;
  std::string (*text)(Session&, std::uint32_t file);
};

constexpr Stage stages[] = {
    {"preprocessed", preprocessed_text},
    {"tokens", tokens_text},
    {"ast", ast_text},
    {"checked", checked_text},
    {"ir", ir_text},
    {"opt", opt_text},
    {"llvm", llvm_text},
    {"kernels", kernels_text},
    {"ptx", ptx_text},
    {"super", super_text},
    {"vm", vm_text},
};

}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const Stage& stage : stages) names.emplace_back(stage.name);
  return names;
}

int emit_script(Session& session, Script script) {
  const Stage& stage = *std::ranges::find(stages, session.options.emit, &Stage::name);
  const std::uint32_t file = session.sources.add(std::move(script.path), std::move(script.text));
  const std::string text = stage.text(session, file);
  const bool failed = session.print_diagnostics();
  if (failed) return exit_compile_error;
  return write_output(text) ? exit_ok : exit_failed;
}

}  // namespace raddle::tool
