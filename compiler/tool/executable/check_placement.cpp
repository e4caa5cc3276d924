#include "compiler/tool/executable/check_placement.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiler/emit/emit_program.hpp"
#include "compiler/ir/written_name.hpp"
#include "vm/device/called_in_body.hpp"
#include "vm/device/launch_kernel.hpp"

namespace raddle::tool {

namespace {

bool says_gpu(const ir::Module& module) {
  const auto is_placed = [](const auto& part) { return part.placement == vm::Placement::gpu; };
  return std::ranges::any_of(module.functions, [&](const ir::Function& function) {
    return is_placed(function) || std::ranges::any_of(function.regions, [&](const ir::Region& region) {
             return std::ranges::any_of(region.ops, is_placed);
           });
  });
}

Span span_of(vm::Place place) { return {place.file, place.begin, place.end}; }

class PlacementCheck {
 public:
  PlacementCheck(const ir::Module& module, Diagnostics& diagnostics)
      : module_(module), diagnostics_(diagnostics), program_(emit_program(module)) {}

  void run() {
    for (const vm::ForeachSite& site : program_.foreaches)
      if (is_for_gpus(site) && vm::obstacle_of(program_, site).empty()) note_inside(site);
    for (std::size_t i = 0; i < program_.instructions.size(); ++i)
      if (vm::form_of(program_.instructions[i].opcode) == vm::InstructionForm::foreach)
        check_loop(program_.foreaches[program_.instructions[i].d], program_.places[i]);
    for (vm::FunctionId id = 0; id < program_.functions.size(); ++id) {
      const vm::Function& function = program_.functions[id];
      const bool is_kernel =
          function.foreign != vm::no_id && program_.foreigns[function.foreign].kind == vm::ForeignKind::app_kernel;
      if (function.placement != vm::Placement::gpu || is_kernel || found_.contains(id)) continue;
      const std::string why = why_calls_stay(id);
      if (!why.empty())
        diagnostics_.report(DiagnosticKind::not_for_gpus, span_of(function.place),
                            "`" + ir::written_name(module_.functions[id]) + "` stays on the CPU: " + why);
    }
  }

 private:
  bool is_for_gpus(const vm::ForeachSite& site) const {
    return !site.is_in_nest && vm::placement_of(program_, site) == vm::Placement::gpu;
  }

  /// Single ones; "": they go.
  std::string why_calls_stay(vm::FunctionId called) const {
    const vm::Function& function = program_.functions[called];
    if (function.is_leaf) return vm::obstacle_of(program_, called);
    const std::string why = function.body == vm::no_id ? "" : vm::no_kernel_in(program_, function.body);
    return why.empty() ? "it does more than compute numbers" : why;
  }

  /// A loop in which some go need not go itself.
  void note_inside(const vm::ForeachSite& site) {
    for (vm::BodyId body = program_.bodies[site.body].parent; body != vm::no_id; body = program_.bodies[body].parent)
      around_.insert(body);
  }

  void check_loop(const vm::ForeachSite& site, vm::Place place) {
    found_.merge(vm::functions_called_by(program_, site));
    if (!is_for_gpus(site)) return;
    found_.insert(program_.bodies[site.body].function);
    const std::string why = vm::obstacle_of(program_, site);
    if (!why.empty() && !around_.contains(site.body))
      diagnostics_.report(DiagnosticKind::not_for_gpus, span_of(place), "this loop stays on the CPU: " + why);
  }

  const ir::Module& module_;
  Diagnostics& diagnostics_;
  const vm::Program program_;
  std::set<vm::BodyId> around_;
  std::set<vm::FunctionId> found_;
};

}  // namespace

void check_placement(const ir::Module& module, Diagnostics& diagnostics) {
  if (says_gpu(module)) PlacementCheck(module, diagnostics).run();
}

}  // namespace raddle::tool
