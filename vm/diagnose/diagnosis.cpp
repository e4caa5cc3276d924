#include "vm/diagnose/diagnosis.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "vm/diagnose/live_variables.hpp"
#include "vm/diagnose/merge_stuck.hpp"
#include "vm/diagnose/unset_fields.hpp"
#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/forwarder.hpp"
#include "vm/interpret/leaf_call.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/program/instruction_operands.hpp"
#include "vm/value/borrow.hpp"

namespace raddle::vm {

namespace {

class Diagnosis {
 public:
  explicit Diagnosis(Run& run) : run_(run), program_(run.program), variables_(run), fields_(variables_) {}

  std::vector<StuckVariable> find() {
    collect_cells();
    for (Frame* frame : variables_.frames()) fields_.add(*frame);
    for (Frame* frame : variables_.frames()) visit_strands(*frame);
    for (const MemoWait* memo : memos_) {  // what it waits for is told of the call that was first
      waiting_.push_back({&memo->frame, {}});
      visit_products(memo->frame, program_.instructions[memo->instruction]);
    }
    for (Future* result : run_.results) {
      if (!result->is_resolved()) await(*result, nullptr, {}, false);
    }
    std::vector<StuckVariable> stuck = describe(Which::roots);
    std::ranges::move(cycles(), std::back_inserter(stuck));
    if (stuck.empty()) stuck = describe(Which::named);
    return stuck.empty() ? describe(Which::all) : stuck;
  }

 private:
  enum class Which { roots, named, all };
  struct Awaited {
    const VariableInfo* variable = nullptr;
    std::string element = {};           ///< it is on its way into this element of the variable: "a[3]"
    const UnsetField* field = nullptr;  ///< it is this, and `element` names it
    bool is_unclosed = false;
    std::string inside = {};  ///< only this element of the array is awaited: "a[3]"
    std::vector<Place> places = {};
    std::size_t order = 0;
    bool has_name() const { return !element.empty() || (variable && !variable->name.empty()); }
  };
  struct WaitingStrand {
    const Frame* frame;
    struct Edge {
      Future* awaited;
      Place place;
    };
    std::vector<Edge> edges;  ///< what it waits for, and where
  };

  void collect_cells() {
    run_.cells.for_each_live([this](Cell& cell) {
      // the machine may have cells of other runs
      if (auto* frame = dynamic_cast<Frame*>(&cell)) {
        if (&frame->run_state == &run_) variables_.add(*frame);
      } else if (auto* forwarder = dynamic_cast<Forwarder*>(&cell)) {
        if (&forwarder->source_frame.run_state == &run_) sources_[&forwarder->target] = &forwarder->source;
      } else if (auto* wait = dynamic_cast<ElementWait*>(&cell)) {
        if (&wait->frame.run_state != &run_) return;
        const Instruction& in = program_.instructions[wait->instruction];
        elements_[&wait->frame.at(in.a)] = wait;
      } else if (auto* memo = dynamic_cast<MemoWait*>(&cell)) {
        if (&memo->frame.run_state == &run_) memos_.push_back(memo);
      }
    });
    variables_.end_adding();
  }

  // --- what is awaited, what is still to be produced

  void visit_strands(Frame& frame) {
    for (std::uint32_t i = 0; i < frame.body.state_count; ++i) {
      const StrandState* made = frame.made_state(i);
      if (!made || !made->is_waiting) continue;
      const StrandState& state = *made;
      const Strand& strand = program_.strands[state.strand];
      waiting_.push_back({&frame, {}});
      for (std::uint32_t input = state.next; input < strand.awaited_count; ++input) {
        visit_input(frame, strand, program_.awaited[strand.first_awaited + input]);
      }
      for (std::uint32_t k = 0; k < strand.instruction_count; ++k) {
        visit_products(frame, program_.instructions[strand.first_instruction + k]);
      }
    }
  }

  void visit_input(Frame& frame, const Strand& strand, const AwaitedInput& input) {
    Future& future = frame.at(input.variable);
    const VariableInfo* variable = find_variable(program_, strand.body, input.variable);
    const Place place = variables_.place_of_use(strand, input.variable);
    if (!future.is_resolved()) return await(future, variable, place, false);
    if (input.mode == AwaitMode::set || (input.mode == AwaitMode::named && object_in<File>(future).has_path())) return;
    Future* closing = closing_of(future);
    if (closing && !closing->is_resolved()) return await_closing(future, *closing, variable, place);
    if (depth_of(future, input.mode) == Depth::unset) await_inside(future, variable, place);
  }

  void await_inside(Future& future, const VariableInfo* variable, Place place) {
    const auto look = [&](Future& inner) {
      if (!inner.is_resolved()) return await(inner, variable, place, false);
      if (Future* closing = closing_of(inner); closing && !closing->is_resolved())
        await_closing(inner, *closing, variable, place);
      else if (depth_of(inner) == Depth::unset)
        await_inside(inner, variable, place);
    };
    for_each_inner(future, AwaitMode::deep, look);
  }

  /// A container or file that is there. A row is closed with the array that it lies in.
  void await_closing(Future& future, Future& closing, const VariableInfo* variable, Place place) {
    Future* origin = &closing;
    std::string row_name;
    if (future.kind() == ValueKind::array) {
      if (!variable || variable->name.empty()) row_name = object_in<Array>(future).name();
      for (Array* outer = object_in<Array>(future).parent(); outer; outer = outer->parent()) origin = &outer->closed();
    }
    await(*origin, variable, place, true, row_name);
  }

  /// Follows values that are only being passed on to where they should come from.
  void await(Future& future, const VariableInfo* variable, Place place, bool is_unclosed,
             std::string element_name = {}) {
    Future* origin = &future;
    std::string inside;
    std::vector<std::pair<Future*, CycleStep>> passed;
    for (;;) {
      if (const auto known = std::ranges::find(passed, origin, &std::pair<Future*, CycleStep>::first);
          known != passed.end()) {
        return add_forwarded_cycle(std::vector(known, passed.end()));
      }
      passed.emplace_back(origin, CycleStep{});
      if (const auto source = sources_.find(origin); source != sources_.end()) {
        origin = source->second;
      } else if (const auto element = elements_.find(origin); element != elements_.end()) {
        const ElementWait& wait = *element->second;
        variable = array_of(wait);
        if (sources_.contains(&wait.element)) {
          origin = &wait.element;
          element_name = name_of_element(wait, variable);
          passed.back().second = {element_name, program_.places[wait.instruction],
                                  variable ? variable->place : Place{}};
          continue;
        }
        is_unclosed = true;
        inside = name_of_element(wait, variable);
        origin = &wait.array.as_array().closed();
        break;
      } else {
        break;
      }
    }
    const std::optional<Home> home = is_unclosed ? std::nullopt : variables_.home_of(*origin);
    if (home && (element_name.empty() || !variables_.variable_at(*home).name.empty())) {
      variable = &variables_.variable_at(*home);
      element_name.clear();
    }
    const UnsetField* field = fields_.find(*origin);
    if (field) std::tie(variable, element_name) = std::tie(field->variable, field->name);
    Awaited& awaited = awaited_.try_emplace(origin, Awaited{.order = awaited_.size()}).first->second;
    // the name of a variable says more than that of an element, whichever frame is looked at first
    const bool is_of_variable = element_name.empty() && variable != nullptr && !variable->name.empty();
    if (!awaited.has_name() || (is_of_variable && !awaited.element.empty())) {
      awaited.variable = variable;
      awaited.element = element_name;
      awaited.field = field;
      awaited.is_unclosed = is_unclosed;
      awaited.inside = inside;
    }
    if (place.end == 0) return;
    if (std::ranges::find(awaited.places, place) == awaited.places.end()) awaited.places.push_back(place);
    if (!waiting_.empty()) waiting_.back().edges.push_back({origin, place});
  }

  /// Elements that are copies of each other, all around.
  void add_forwarded_cycle(std::vector<std::pair<Future*, CycleStep>> passed) {
    std::vector<CycleStep> steps;
    bool is_new = true;
    for (auto& [future, step] : passed) {
      is_new = in_cycles_.insert(future).second && is_new;
      if (!step.name.empty()) steps.push_back(std::move(step));
    }
    if (is_new && !steps.empty()) cycles_.push_back(std::move(steps));
  }

  void visit_products(Frame& frame, const Instruction& in) {
    const auto produces = [this](Future& future) { produced_.try_emplace(&future, waiting_.size() - 1); };
    const auto closing = [&](Frame& own, Operand array) {
      if (Future& future = own.at(array); future.is_resolved()) {
        if (Future* closed = closing_of(future)) produces(*closed);
      }
    };
    visit_outputs(program_, in, [&](Operand output) { produces(frame.at(output)); });
    visit_written(program_, in, [&](Operand array) { closing(frame, array); });
    if (form_of(in.opcode) == InstructionForm::loop_test) {
      const LoopSite& site = program_.loops[in.d];
      for (const Operand result : site.results) produces(frame.outer->at(result));
      for (const Operand assigned : site.assigned) produces(frame.outer->at(assigned));
      for (const Operand array : site.written) closing(*frame.outer, array);
    }
    if (form_of(in.opcode) == InstructionForm::store) {
      produces(object_field(frame, in));
    }
    if (form_of(in.opcode) == InstructionForm::app) {
      for (const Operand file : program_.apps[in.d].file_outputs) closing(frame, file);
    }
    if (form_of(in.opcode) == InstructionForm::builtin) {
      const BuiltinSite& site = program_.builtins[in.d];
      for (std::uint32_t i = 0; i < site.file_output_count; ++i) closing(frame, site.arguments[i]);
    }
    if (in.opcode == Opcode::file_assign) closing(frame, in.b);
  }

  static Future& object_field(Frame& frame, const Instruction& in) {
    Future& structure = frame.at(in.a);
    return structure.is_resolved() && !structure.is_failed() ? object_in<Structure>(structure).field(in.d) : structure;
  }

  // --- cycles

  /// From what is awaited to what the strand that should produce it awaits, until that comes round.
  std::vector<StuckVariable> cycles() {
    std::vector<std::pair<std::size_t, Future*>> starts;
    for (const auto& [future, awaited] : awaited_) starts.emplace_back(awaited.order, future);
    std::ranges::sort(starts);
    for (const auto& [order, start] : starts) search_cycle(start);
    std::vector<StuckVariable> found;
    for (std::vector<CycleStep>& steps : cycles_) {
      std::ranges::rotate(steps, std::ranges::min_element(steps, {}, [](const CycleStep& step) {
                            return std::tie(step.declared, step.name);
                          }));
      StuckVariable stuck;
      stuck.name = steps.front().name;
      stuck.declared = steps.front().declared;
      stuck.cycle = std::move(steps);
      found.push_back(std::move(stuck));
    }
    std::ranges::sort(found, {}, [](const StuckVariable& each) { return std::tie(each.declared, each.name); });
    return merge_cycles(std::move(found));
  }

  struct Visit {
    Future* future;
    std::size_t next = 0;  ///< of the edges of the strand that should produce it
  };

  void search_cycle(Future* start) {
    std::vector<Visit> path;
    const auto enter = [&](Future* future) {
      if (visited_.insert(future).second && !in_cycles_.contains(future)) path.push_back({future});
    };
    enter(start);
    while (!path.empty()) {
      Visit& visit = path.back();
      const auto strand = produced_.find(visit.future);
      if (strand == produced_.end() || visit.next == waiting_[strand->second].edges.size()) {
        path.pop_back();
        continue;
      }
      Future* awaited = waiting_[strand->second].edges[visit.next++].awaited;
      const auto again = std::ranges::find(path, awaited, &Visit::future);
      if (again == path.end()) {
        enter(awaited);
      } else {
        add_cycle(std::vector(again, path.end()));
        return;
      }
    }
  }

  void add_cycle(const std::vector<Visit>& path) {
    std::vector<CycleStep> steps;
    for (const Visit& visit : path) {
      in_cycles_.insert(visit.future);
      const Awaited& awaited = awaited_.at(visit.future);
      const WaitingStrand& strand = waiting_[produced_.at(visit.future)];
      CycleStep step;
      if (!awaited.has_name()) continue;  // what it passes on says enough
      step.name = awaited.element.empty() ? awaited.variable->name : awaited.element;
      if (awaited.variable) step.declared = awaited.variable->place;
      step.is_unclosed = awaited.is_unclosed;
      step.inside = awaited.inside;
      step.place = variables_.place_outside(*strand.frame, strand.edges[visit.next - 1].place, *visit.future);
      steps.push_back(std::move(step));
    }
    if (!steps.empty()) cycles_.push_back(std::move(steps));
  }

  // --- what is told

  const VariableInfo* array_of(const ElementWait& wait) const {
    return find_variable(program_, variables_.body_of(wait.frame), program_.instructions[wait.instruction].b);
  }

  /// Arrays that no declaration makes have no name of their own.
  static std::string name_of_element(const ElementWait& wait, const VariableInfo* variable) {
    const Array& array = wait.array.as_array();
    if (!array.name().empty() || !variable || variable->name.empty()) return array.element_name(wait.key);
    return fmt::format("{}[{}]", variable->name, index_text(array.extents(), wait.key));
  }

  std::vector<StuckVariable> describe(Which which) const {
    std::vector<std::pair<Future*, const Awaited*>> chosen;
    for (const auto& [future, awaited] : awaited_) {
      if (which != Which::roots || !produced_.contains(future)) chosen.emplace_back(future, &awaited);
    }
    std::ranges::sort(chosen, {}, [](const auto& each) { return each.second->order; });
    std::vector<StuckVariable> stuck;
    for (const auto& [future, awaited] : chosen) {
      const bool has_name = awaited->variable && !awaited->variable->name.empty();
      if (which == Which::named && !has_name) continue;
      StuckVariable variable;
      if (awaited->variable) {
        variable.name = awaited->variable->name;
        variable.declared = awaited->variable->place;
      }
      if (!awaited->element.empty()) {
        const bool is_variable = awaited->field && !awaited->field->is_in_element;
        (is_variable ? variable.name : variable.element) = awaited->element;
        variable.element_count = is_variable ? 0 : 1;
      }
      if (which == Which::roots) add_skipped(*future, *awaited, variable);
      variable.is_unclosed = awaited->is_unclosed;
      variable.awaited = awaited->places;
      stuck.push_back(std::move(variable));
    }
    return merge_variables(std::move(stuck));
  }

  void add_skipped(const Future& future, const Awaited& awaited, StuckVariable& stuck) const {
    if (!awaited.field) {
      if (const std::optional<Home> home = variables_.home_of(future)) return variables_.follow_calls({*home}, stuck);
      if (awaited.is_unclosed && awaited.variable && awaited.element.empty()) stuck.skipped = awaited.variable->guarded;
      return;
    }
    for (const Holder& holder : awaited.field->holders) {
      StuckVariable followed = stuck;
      variables_.follow_calls(holder, followed);
      if (followed.skipped.empty()) continue;
      stuck = std::move(followed);
      return;
    }
  }

  Run& run_;
  const Program& program_;
  LiveVariables variables_;
  UnsetFields fields_;
  std::vector<const MemoWait*> memos_;
  std::unordered_map<Future*, Future*> sources_;              ///< forwarders, by target
  std::unordered_map<Future*, const ElementWait*> elements_;  ///< by target
  std::unordered_map<Future*, Awaited> awaited_;
  std::vector<WaitingStrand> waiting_;
  std::unordered_map<Future*, std::size_t> produced_;  ///< by which of waiting_
  std::vector<std::vector<CycleStep>> cycles_;
  std::unordered_set<Future*> in_cycles_, visited_;
};

}  // namespace

std::vector<StuckVariable> find_stuck(Run& run) { return Diagnosis(run).find(); }

}  // namespace raddle::vm
