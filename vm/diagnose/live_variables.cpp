#include "vm/diagnose/live_variables.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "vm/interpret/run_state.hpp"
#include "vm/program/instruction_operands.hpp"

namespace raddle::vm {

LiveVariables::LiveVariables(const Run& run) : run_(run), program_(run.program) {}

void LiveVariables::end_adding() { std::ranges::sort(frames_); }

Place LiveVariables::place_outside(const Frame& strand, Place place, const Future& product) const {
  const Frame* owner = frame_of(product);
  Place outside = place;
  const Frame* frame = &strand;
  for (; frame && frame != owner; frame = frame->outer) {
    if (!frame->is_function() || frame->call_site == no_id) continue;
    if (program_.places[frame->call_site].end != 0) outside = program_.places[frame->call_site];
  }
  return frame ? outside : place;
}

BodyId LiveVariables::body_of(const Frame& frame) const {
  return static_cast<BodyId>(&frame.body - program_.bodies.data());
}

std::optional<Home> LiveVariables::home_of(const Future& future) const {
  if (const auto result = std::ranges::find(run_.results, &future); result != run_.results.end()) {
    const BodyId body = program_.functions[program_.entry].body;
    return Home{body, program_.bodies[body].future_count + static_cast<std::uint32_t>(result - run_.results.begin())};
  }
  Frame* frame = frame_of(future);
  if (!frame) return std::nullopt;
  return Home{body_of(*frame), static_cast<std::uint32_t>(&future - frame->slots())};
}

Frame* LiveVariables::frame_of(const Future& future) const {
  const auto above = std::ranges::upper_bound(frames_, &future, std::less<const void*>());
  if (above == frames_.begin()) return nullptr;
  Frame* frame = *(above - 1);
  return &future >= frame->slots() && &future < frame->slots() + frame->body.future_count ? frame : nullptr;
}

std::vector<GuardedAssignment> LiveVariables::guarded_assignments(const Holder& holder) const {
  std::vector<GuardedAssignment> found;
  if (holder.is_element) return found;
  std::ranges::copy_if(variable_at(holder.home).guarded, std::back_inserter(found),
                       [&](const GuardedAssignment& each) { return each.field == holder.field; });
  return found;
}

/// The one call in the body or those nested in it that was to set the variable; none if there are several.
std::optional<LiveVariables::Producer> LiveVariables::producer_of(const Holder& holder) const {
  const Home home = holder.home;
  std::optional<Producer> found;
  bool is_clear = true;
  const auto add = [&](std::optional<Producer> producer) {
    is_clear = is_clear && producer && !found;
    if (!found) found = producer;
  };
  for (const Strand& strand : program_.strands) {
    std::uint32_t level = 0;
    BodyId body = strand.body;
    for (; body != home.body && body != no_id; ++level) body = program_.bodies[body].parent;
    if (body == no_id) continue;
    const Operand target = Operand::local(home.slot, level, home.slot >= program_.bodies[home.body].future_count);
    for (std::uint32_t k = 0; k < strand.instruction_count; ++k) {
      const Instruction& in = program_.instructions[strand.first_instruction + k];
      if (holder.is_element && form_of(in.opcode) == InstructionForm::insert && in.a == target)
        add(in.c.is_constant() ? std::nullopt : producer_of({home_of(in.c, strand.body)}));
      if (holder.is_element || form_of(in.opcode) != InstructionForm::call) continue;
      const auto& results = program_.calls[in.d].results;
      if (const auto at = std::ranges::find(results, target); at != results.end())
        add(Producer{strand.first_instruction + k, static_cast<std::uint32_t>(at - results.begin())});
    }
  }
  return is_clear ? found : std::nullopt;
}

Home LiveVariables::home_of(Operand variable, BodyId body) const {
  for (std::uint32_t level = variable.level(); level > 0; --level) body = program_.bodies[body].parent;
  return {body, variable.index()};
}

void LiveVariables::follow_calls(Holder holder, StuckVariable& stuck) const {
  constexpr int most_calls = 50;  // a recursion has no end here
  stuck.skipped = guarded_assignments(holder);
  for (int i = 0; i < most_calls && stuck.skipped.empty(); ++i) {
    const std::optional<Producer> producer = producer_of(holder);
    if (!producer) return;
    const CallSite& site = program_.calls[program_.instructions[producer->instruction].d];
    const BodyId callee = program_.functions[site.function].body;
    holder = {{callee, program_.bodies[callee].future_count + producer->result}, false, holder.field};
    const VariableInfo& output = variable_at(holder.home);
    stuck.name = output.name + (holder.field.empty() ? "" : "." + holder.field);
    stuck.element.clear();
    stuck.element_count = 0;
    stuck.declared = output.place;
    stuck.skipped = guarded_assignments(holder);
    const Place call = program_.places[producer->instruction];
    if (call.end != 0) stuck.calls.insert(stuck.calls.begin(), call);
  }
}

Place LiveVariables::place_of_use(const Strand& strand, Operand variable) const {
  for (std::uint32_t i = 0; i < strand.instruction_count; ++i) {
    const std::uint32_t index = strand.first_instruction + i;
    bool reads = false;
    visit_inputs(program_, program_.instructions[index], [&](Operand input) { reads = reads || input == variable; });
    if (reads) return program_.places[index];
  }
  return program_.places[strand.first_instruction];
}

}  // namespace raddle::vm
