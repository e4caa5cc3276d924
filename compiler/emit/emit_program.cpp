#include "compiler/emit/emit_program.hpp"

#include <algorithm>

#include "compiler/emit/element_writers.hpp"
#include "compiler/emit/emit_function.hpp"
#include "compiler/emit/emit_kernel.hpp"
#include "compiler/emit/function_plan.hpp"
#include "compiler/emit/needed_parameters.hpp"
#include "compiler/emit/partition_strands.hpp"
#include "compiler/emit/read_windows.hpp"
#include "compiler/emit/gathering_sites.hpp"
#include "compiler/ir/heavy_leaves.hpp"
#include "compiler/ir/kernel_operator.hpp"
#include "compiler/ir/library_calls.hpp"

namespace raddle {

namespace {

vm::Value value_of(const ir::Constant& constant) {
  return std::visit([](const auto& value) { return vm::Value::of(value); }, constant);
}

vm::KernelType leaf_type(const TypeStore& types, TypeId id) {
  return ir::kernel_type(types, id).value_or(vm::KernelType::int_);
}

void describe_leaf(const ir::Module& module, const ir::Function& function, vm::Function& out) {
  for (const ir::VarId id : function.parameters) {
    out.leaf_parameters.push_back(leaf_type(*module.types, function.variables[id].type));
  }
  for (const ir::VarId id : function.outputs) {
    out.leaf_results.push_back(leaf_type(*module.types, function.variables[id].type));
  }
}

/// What calls a function without scalar code has none either.
void forget_callers(std::vector<vm::Function>& functions) {
  const auto lacks_callee = [&](const vm::Function& function) {
    return std::ranges::any_of(function.scalar_code.calls, [&](const vm::ScalarCall& call) {
      return !functions[call.kernel].scalar_code.exists();
    });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (vm::Function& function : functions) {
      if (!lacks_callee(function)) continue;
      function.scalar_code = {};
      has_changed = true;
    }
  }
}

void find_sequential(std::vector<vm::Function>& functions) {
  const auto is_sequential = [&](const vm::Function& function) {
    const std::vector<vm::ScalarCall>& calls = function.scalar_code.calls;
    const auto heavy =
        std::ranges::count_if(calls, [&](const vm::ScalarCall& call) { return functions[call.kernel].is_heavy; });
    return heavy < 2 &&
           std::ranges::all_of(calls, [&](const vm::ScalarCall& call) { return functions[call.kernel].is_sequential; });
  };
  for (vm::Function& function : functions) function.is_sequential = function.scalar_code.exists();
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (vm::Function& function : functions) {
      if (!function.is_sequential || is_sequential(function)) continue;
      function.is_sequential = false;
      has_changed = true;
    }
  }
}

/// Those that call an app, or a function that does.
void find_starters(const ir::Module& module, std::vector<vm::Function>& functions) {
  const auto starts = [&](const ir::Op& op) {
    return op.kind == ir::OpKind::call_app || (op.kind == ir::OpKind::call && functions[op.callee].starts_programs);
  };
  const auto has_starter = [&](const ir::Region& region) { return std::ranges::any_of(region.ops, starts); };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
      const ir::Function& function = module.functions[id];
      if (functions[id].starts_programs || std::ranges::none_of(function.regions, has_starter)) continue;
      functions[id].starts_programs = has_changed = true;
    }
  }
}

void describe_launch(vm::Program& program, vm::IndexLaunch& launch, const vm::LaunchNest& nest) {
  vm::KernelEntry& entry = program.functions[launch.leaf].kernel_entry;
  const bool has_lanes = !launch.is_projected() || (launch.reads.empty() && launch.is_contiguous(1));
  const std::uint64_t row_follows = entry.row_follows;  // known where the loop is seen as part of a nest
  entry = has_lanes ? vm::KernelEntry::lanes : vm::KernelEntry::points;
  entry.row_follows = row_follows;
  if (launch.reads.size() < vm::KernelEntry::reads_limit) entry.reads = static_cast<std::uint8_t>(launch.reads.size());
  emit::find_windows(program, launch, nest, entry);
  for (const vm::FunctionId id : {launch.projection, nest.prelude})
    if (id != vm::no_id) program.functions[id].kernel_entry = vm::KernelEntry::points;
  if (!program.kernels[launch.leaf].exists()) return;
  launch.reads_point = program.kernels[launch.leaf].reads(0);
  const std::vector<bool> needed = emit::needed_parameters(program.kernels[launch.leaf]);
  const std::size_t first_capture = needed.size() - launch.captures.size();
  for (std::size_t i = 0; i < launch.captures.size(); ++i) launch.captures[i].is_needed |= needed[first_capture + i];
}

}  // namespace

vm::Program emit_program(const ir::Module& module, ir::FunctionId entry) {
  vm::Program program;
  program.entry = entry;
  for (const ir::Constant& constant : module.constants) program.constants.push_back(value_of(constant));
  static_assert(vm::Program::first_inlined_text == SourceMap::first_inlined);
  if (module.sources != nullptr)
    for (const auto& [file, call] : module.sources->inlined())
      program.inlined_texts.push_back({file, {call.file, call.begin, call.end}});
  program.kernels = emit::emit_kernels(module);
  ir::HeavyLeaves heavy(module);
  emit::StructureTable structures(*module.types, program);
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
    const ir::Function& function = module.functions[id];
    vm::Function out;
    out.name = function.name;
    out.parameter_count = static_cast<std::uint32_t>(function.parameters.size());
    out.output_count = static_cast<std::uint32_t>(function.outputs.size());
    out.is_leaf = function.is_leaf();
    out.is_outlined = function.kind == ir::FunctionKind::outlined;
    out.placement = function.placement;
    out.place = {function.span.file, function.span.begin, function.span.end};
    if (out.is_leaf) {
      out.is_heavy = heavy.is_heavy(id);
      out.calls_library = ir::calls_library(module, function);
      describe_leaf(module, function, out);
      out.scalar_code = vm::assemble(program.kernels[id]);
    }
    program.functions.push_back(std::move(out));
    if (function.kind == ir::FunctionKind::launched) continue;  // a kernel alone: the loop's body does what it can not
    emit::FunctionPlan plan = emit::plan_function(module, function);
    emit::partition_strands(plan);
    const vm::BodyId body = emit::emit_function(plan, id, program, structures);
    program.functions[id].body = body;
    emit::add_element_writers(plan, body, program);
  }
  emit::add_gathering_sites(program);
  forget_callers(program.functions);
  const std::vector<vm::LaneCode> lanes = vm::plan_lanes(program.kernels);
  for (ir::FunctionId id = 0; id < lanes.size(); ++id) program.functions[id].lane_code = lanes[id];
  for (vm::ForeachSite& site : program.foreaches)
    if (site.launch.leaf != vm::no_id) describe_launch(program, site.launch, site.nest);
  find_sequential(program.functions);
  find_starters(module, program.functions);
  return program;
}

}  // namespace raddle
