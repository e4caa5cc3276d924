#include "vm/interpret/frame.hpp"

#include <cstring>

#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

Frame::Frame(Run& run, const Body& body, Frame* outer, std::uint64_t stream)
    : run_state(run), body(body), outer(outer), stream(stream), depth(outer ? outer->depth + 1 : 0) {
  if (outer) {
    careful.store(outer->careful.load(std::memory_order_relaxed), std::memory_order_relaxed);
    interpret_only = outer->interpret_only;
    priority = outer->priority;
    rank = outer->rank;
    placed = outer->inner_placed();
    call_depth = outer->call_depth + (is_function() ? 1 : 0);
  }
  Future* futures = slots();
  for (std::uint32_t i = 0; i < body.future_count; ++i) ::new (futures + i) Future;
  std::memset(static_cast<void*>(futures + body.future_count), 0,
              body.output_count * sizeof(Future) + body.state_count * sizeof(StrandState));
}

Frame::~Frame() { destroy_futures(); }

void Frame::destroy_futures() {
  Future* futures = slots();
  for (std::uint32_t i = 0; i < body.future_count; ++i) futures[i].~Future();
}

void Frame::reset() {
  destroy_futures();
  Future* futures = slots();
  for (std::uint32_t i = 0; i < body.future_count; ++i) ::new (futures + i) Future;
}

Place Frame::place_of_call(std::uint32_t instruction) const {
  const std::vector<Place>& places = run_state.program.places;
  for (const Frame* each = this; each; each = each->outer) {
    if (!each->is_function() || each->call_site == no_id) continue;
    if (const Place call = places[each->call_site]; call.end != 0) return call;
  }
  return places[instruction];
}

Future& Frame::find(Operand operand) {
  if (operand.is_constant()) return run_state.constant(operand.index());
  Frame* frame = this;
  for (std::uint32_t level = operand.level(); level > 0; --level) frame = frame->outer;
  Future* slot = frame->slots() + operand.index();
  return operand.is_indirect() ? **reinterpret_cast<Future**>(slot) : *slot;
}

}  // namespace raddle::vm
