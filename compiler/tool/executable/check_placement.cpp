#include "compiler/tool/executable/check_placement.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/emit/emit_program.hpp"
#include "compiler/ir/written_name.hpp"
#include "compiler/tool/executable/script_place.hpp"
#include "vm/device/launch_kernel.hpp"
#include "vm/program/written_place.hpp"

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

class PlacementCheck {
 public:
  PlacementCheck(const ir::Module& module, const SourceMap& sources, Diagnostics& diagnostics)
      : module_(module), sources_(sources), diagnostics_(diagnostics), program_(emit_program(module)) {}

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
      const vm::Obstacle why = vm::obstacle_of(program_, id);
      if (!why.empty())
        diagnostics_.report(DiagnosticKind::not_for_gpus, span_of(function.place),
                            "`" + ir::written_name(module_.functions[id]) + "` stays on the CPU: " +
                                text_of_obstacle(sources_, why, written_place(function.place)).with_place());
    }
  }

 private:
  bool is_for_gpus(const vm::ForeachSite& site) const {
    return !site.is_in_nest && vm::placement_of(program_, site) == vm::Placement::gpu;
  }

  vm::CallPlace written_place(vm::Place place) const {
    std::vector<vm::Place> chain;
    vm::add_written(program_, place, chain);
    return {chain.front(), {chain.begin() + 1, chain.end()}};
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
    const vm::Obstacle why = vm::obstacle_of(program_, site);
    if (!why.empty() && !around_.contains(site.body))
      diagnostics_.report(
          DiagnosticKind::not_for_gpus, span_of(place),
          "this loop stays on the CPU: " + text_of_obstacle(sources_, why, written_place(place)).with_place());
  }

  const ir::Module& module_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  const vm::Program program_;
  std::set<vm::BodyId> around_;
  std::set<vm::FunctionId> found_;
};

}  // namespace

void check_placement(const ir::Module& module, const SourceMap& sources, Diagnostics& diagnostics) {
  if (says_gpu(module)) PlacementCheck(module, sources, diagnostics).run();
}

}  // namespace raddle::tool
