#include "vm/interpret/diagnosis.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "vm/interpret/borrow.hpp"
#include "vm/interpret/deep_wait.hpp"
#include "vm/interpret/forwarder.hpp"
#include "vm/interpret/leaf_call.hpp"
#include "vm/interpret/run_state.hpp"
#include "vm/program/instruction_operands.hpp"

namespace raddle::vm {

namespace {

bool is_same(Place a, Place b) { return a.file == b.file && a.begin == b.begin && a.end == b.end; }

class Diagnosis {
 public:
  explicit Diagnosis(Run& run) : run_(run), program_(run.program) {}

  std::vector<StuckVariable> find() {
    collect_cells();
    for (Frame* frame : frames_) visit_strands(*frame);
    for (Future& result : run_.results) {
      if (!result.is_resolved()) await(result, nullptr, {}, false);
    }
    std::vector<StuckVariable> stuck = describe(true);
    return stuck.empty() ? describe(false) : stuck;
  }

 private:
  struct Awaited {
    const VariableInfo* variable = nullptr;
    bool is_unclosed = false;
    std::vector<Place> places;
    std::size_t order = 0;
  };

  void collect_cells() {
    run_.cells.for_each_live([this](Cell& cell) {
      if (auto* frame = dynamic_cast<Frame*>(&cell)) {
        frames_.push_back(frame);
      } else if (auto* forwarder = dynamic_cast<Forwarder*>(&cell)) {
        sources_[&forwarder->target] = &forwarder->source;
      } else if (auto* wait = dynamic_cast<ElementWait*>(&cell)) {
        const Instruction& in = program_.instructions[wait->instruction];
        elements_[&wait->frame.at(in.a)] = wait;
      }
    });
    std::ranges::sort(frames_);  // by address, to find the frame of a future
  }

  // --- what is awaited, what is still to be produced

  void visit_strands(Frame& frame) {
    for (std::uint32_t i = 0; i < frame.body.state_count; ++i) {
      const StrandState* made = frame.made_state(i);
      if (!made || !made->is_waiting) continue;
      const StrandState& state = *made;
      const Strand& strand = program_.strands[state.strand];
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
    const Place place = place_of_use(strand, input.variable);
    if (!future.is_resolved()) return await(future, variable, place, false);
    if (input.mode == AwaitMode::set) return;
    Future* closing = closing_of(future);
    if (closing && !closing->is_resolved()) return await(*closing, variable, place, true);
    if (input.mode == AwaitMode::deep && depth_of(future) == Depth::unset) await_inside(future, variable, place);
  }

  void await_inside(Future& future, const VariableInfo* variable, Place place) {
    const auto look = [&](Future& inner) {
      if (!inner.is_resolved()) return await(inner, variable, place, false);
      if (Future* closing = closing_of(inner); closing && !closing->is_resolved())
        await(*closing, variable, place, true);
      else if (depth_of(inner) == Depth::unset)
        await_inside(inner, variable, place);
    };
    switch (future.kind()) {
      case ValueKind::array: return object_in<Array>(future).for_each_future(look);
      case ValueKind::bag: return object_in<Bag>(future).for_each_future(look);
      case ValueKind::structure: {
        Structure& structure = object_in<Structure>(future);
        for (std::size_t i = 0; i < structure.field_count(); ++i) look(structure.field(i));
        return;
      }
      default: return;
    }
  }

  /// Follows values that are only being passed on to where they should come from.
  void await(Future& future, const VariableInfo* variable, Place place, bool is_unclosed) {
    Future* origin = &future;
    for (std::size_t steps = 0; steps <= sources_.size() + elements_.size(); ++steps) {
      if (const auto source = sources_.find(origin); source != sources_.end()) {
        origin = source->second;
      } else if (const auto element = elements_.find(origin); element != elements_.end()) {
        const ElementWait& wait = *element->second;
        if (sources_.contains(&wait.element)) {
          origin = &wait.element;
          continue;
        }
        const Instruction& in = program_.instructions[wait.instruction];
        variable = find_variable(program_, body_of(wait.frame), in.b);
        is_unclosed = true;
        origin = &wait.array.as_array().closed();
        break;
      } else {
        break;
      }
    }
    if (!is_unclosed) {
      if (const VariableInfo* own = variable_at(*origin)) variable = own;
    }
    Awaited& awaited = awaited_.try_emplace(origin, Awaited{variable, is_unclosed, {}, awaited_.size()}).first->second;
    const bool is_known = std::ranges::any_of(awaited.places, [place](Place each) { return is_same(each, place); });
    if (!is_known && place.end != 0) awaited.places.push_back(place);
  }

  void visit_products(Frame& frame, const Instruction& in) {
    const auto closing = [&](Frame& own, Operand array) {
      if (Future& future = own.at(array); future.is_resolved()) {
        if (Future* closed = closing_of(future)) produced_.insert(closed);
      }
    };
    visit_outputs(program_, in, [&](Operand output) { produced_.insert(&frame.at(output)); });
    visit_written(program_, in, [&](Operand array) { closing(frame, array); });
    if (form_of(in.opcode) == InstructionForm::loop_test) {
      const LoopSite& site = program_.loops[in.d];
      for (const Operand result : site.results) {
        if (!result.is_absent()) produced_.insert(&frame.outer->at(result));
      }
      for (const Operand assigned : site.assigned) produced_.insert(&frame.outer->at(assigned));
      for (const Operand array : site.written) closing(*frame.outer, array);
    }
    if (form_of(in.opcode) == InstructionForm::store) {
      produced_.insert(&object_field(frame, in));
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

  // --- names and places

  BodyId body_of(const Frame& frame) const { return static_cast<BodyId>(&frame.body - program_.bodies.data()); }

  const VariableInfo* variable_at(Future& future) const {
    if (!run_.results.empty() && &future >= run_.results.data() &&
        &future < run_.results.data() + run_.results.size()) {
      const Body& body = program_.bodies[program_.functions[program_.entry].body];
      return &body.variables[body.future_count + static_cast<std::size_t>(&future - run_.results.data())];
    }
    const auto above = std::ranges::upper_bound(frames_, reinterpret_cast<Frame*>(&future));
    if (above == frames_.begin()) return nullptr;
    Frame& frame = **(above - 1);
    if (&future < frame.slots() || &future >= frame.slots() + frame.body.future_count) return nullptr;
    return &frame.body.variables[static_cast<std::size_t>(&future - frame.slots())];
  }

  Place place_of_use(const Strand& strand, Operand variable) const {
    for (std::uint32_t i = 0; i < strand.instruction_count; ++i) {
      const std::uint32_t index = strand.first_instruction + i;
      bool reads = false;
      visit_inputs(program_, program_.instructions[index], [&](Operand input) { reads = reads || input == variable; });
      if (reads) return program_.places[index];
    }
    return program_.places[strand.first_instruction];
  }

  std::vector<StuckVariable> describe(bool roots_only) const {
    std::vector<std::pair<Future*, const Awaited*>> chosen;
    for (const auto& [future, awaited] : awaited_) {
      if (!roots_only || !produced_.contains(future)) chosen.emplace_back(future, &awaited);
    }
    std::ranges::sort(chosen, {}, [](const auto& each) { return each.second->order; });
    std::vector<StuckVariable> stuck;
    for (const auto& [future, awaited] : chosen) {
      const bool has_name = awaited->variable && !awaited->variable->name.empty();
      if (!roots_only && !has_name) continue;  // in a cycle the script's own variables say enough
      StuckVariable variable;
      if (awaited->variable) {
        variable.name = awaited->variable->name;
        variable.declared = awaited->variable->place;
        variable.skipped = awaited->variable->guarded;
      }
      variable.is_unclosed = awaited->is_unclosed;
      variable.awaited = awaited->places;
      stuck.push_back(std::move(variable));
    }
    return merged(std::move(stuck));
  }

  /// The same variable in many frames is named once.
  static std::vector<StuckVariable> merged(std::vector<StuckVariable> all) {
    std::vector<StuckVariable> result;
    std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, bool>, std::size_t> known;
    for (StuckVariable& each : all) {
      const auto key = std::tuple(each.name, each.declared.file, each.declared.begin, each.is_unclosed);
      const auto [at, is_new] = known.try_emplace(key, result.size());
      if (is_new) {
        result.push_back(std::move(each));
        continue;
      }
      std::vector<Place>& places = result[at->second].awaited;
      for (const Place place : each.awaited) {
        if (std::ranges::none_of(places, [place](Place other) { return is_same(place, other); }))
          places.push_back(place);
      }
    }
    return result;
  }

  Run& run_;
  const Program& program_;
  std::vector<Frame*> frames_;
  std::unordered_map<Future*, Future*> sources_;              ///< forwarders, by target
  std::unordered_map<Future*, const ElementWait*> elements_;  ///< by target
  std::unordered_map<Future*, Awaited> awaited_;
  std::unordered_set<Future*> produced_;
};

}  // namespace

std::vector<StuckVariable> find_stuck(Run& run) { return Diagnosis(run).find(); }

}  // namespace raddle::vm
