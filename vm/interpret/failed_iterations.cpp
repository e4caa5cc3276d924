#include "vm/interpret/failed_iterations.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include "vm/program/written_place.hpp"
#include "vm/value/array.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t most_iterations = 8;
constexpr std::size_t longest_told = 40;  // of strings

/// What the frame's variable in a slot is in a message; absent: it is not there, or nothing that tells iterations
/// apart.
std::optional<FailedIteration> told_by(Frame& frame, std::uint32_t slot, Place loop) {
  const Future& variable = frame.slots()[slot];
  if (!variable.is_resolved() || variable.is_failed()) return std::nullopt;
  FailedIteration told;
  told.loop = loop;
  told.variable = frame.body.variables[slot].name;
  const Value value = variable.get();
  switch (value.kind()) {
    case ValueKind::int_: told.number = value.as_int(); [[fallthrough]];
    case ValueKind::float_:
    case ValueKind::boolean: break;
    case ValueKind::string:
      if (value.as_string().size() > longest_told) return std::nullopt;
      break;
    default: return std::nullopt;
  }
  told.text = key_text(value);
  return told;
}

bool lies_in(const Place& place, const Place& loop) {
  return place.file == loop.file && place.begin >= loop.begin && place.end <= loop.end;
}

/// Of loops that have become one, the innermost one in whose text the failure is, or a call that it is in.
/// @param written  each one's place in the text
const ToldLoop& loop_around(const std::vector<ToldLoop>& loops, const std::vector<Place>& written,
                            const CallPlace& at) {
  std::size_t found = loops.size();
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const auto is_around = [&](const Place& place) { return lies_in(place, written[i]); };
    if ((is_around(at.place) || std::ranges::any_of(at.calls, is_around)) &&
        (found == loops.size() || lies_in(written[i], written[found])))
      found = i;
  }
  return loops[found == loops.size() ? 0 : found];
}

const ToldLoop& loop_around(const Program& program, const std::vector<ToldLoop>& loops, const CallPlace& at) {
  if (loops.size() == 1) return loops[0];
  std::vector<Place> written;
  for (const ToldLoop& loop : loops) {
    std::vector<Place> chain;
    add_written(program, loop.place, chain);
    written.push_back(chain[0]);
  }
  return loop_around(loops, written, at);
}

/// Of a loop that stands for several ones: its iterations count from 0 on.
void add_collapsed(const Program& program, const ForeachSite& site, Frame& frame, const CallPlace& at,
                   std::vector<FailedIteration>& found) {
  std::int64_t rest = frame.slots()[0].get().as_int();
  std::vector<FailedIteration> of_loops;
  for (const CollapsedLoop& each : site.collapsed) {
    const std::int64_t length = frame.outer->at(each.each).get().as_int(), count = rest / length;
    rest %= length;
    if (each.told.empty()) continue;
    const ToldLoop& loop = loop_around(program, each.told, at);
    FailedIteration told;
    told.loop = loop.place;
    told.variable = loop.variable;
    told.number = loop.slot == 0 ? frame.outer->at(each.low).get().as_int() + count : count;
    told.text = key_text(Value::of(told.number));
    of_loops.push_back(std::move(told));
  }
  std::ranges::move(of_loops | std::views::reverse, std::back_inserter(found));
}

/// @param site  whose body the frame's is
/// @param found  gets the iteration, if there is something to tell it by
void add_iteration(const Program& program, const ForeachSite& site, Frame& frame, const CallPlace& at,
                   std::vector<FailedIteration>& found) {
  if (!site.collapsed.empty()) return add_collapsed(program, site, frame, at, found);
  if (site.told.empty()) return;
  const ToldLoop& loop = loop_around(program, site.told, at);
  std::optional<FailedIteration> told = told_by(frame, loop.slot, loop.place);
  if (!told) return;
  told->variable = loop.variable;
  if (loop.variable.empty() && !site.element_of_result.is_absent()) {
    const Future& result = frame.outer->at(site.element_of_result);
    if (result.is_resolved() && !result.is_failed())
      told->text = index_text(object_in<Array>(result).extents(), Value::of(told->number));
  }
  found.push_back(*std::move(told));
}

/// Its variables that are ints: one of them counts.
void add_iteration(const LoopSite& site, Frame& frame, std::vector<FailedIteration>& found) {
  for (auto slot = static_cast<std::uint32_t>(site.initial.size()); slot-- > 0;) {
    if (frame.body.variables[slot].name.empty()) continue;
    std::optional<FailedIteration> told = told_by(frame, slot, site.place);
    if (told && frame.slots()[slot].kind() == ValueKind::int_) found.push_back(*std::move(told));
  }
}

}  // namespace

std::vector<FailedIteration> failed_iterations(const Program& program, Frame& frame, const CallPlace& at) {
  std::vector<FailedIteration> found;
  for (Frame* each = &frame; each != nullptr && found.size() < most_iterations; each = each->outer) {
    if (each->is_function()) continue;
    const auto body = static_cast<BodyId>(&each->body - program.bodies.data());
    const auto is_of = [&](const auto& site) { return site.body == body; };
    if (const auto site = std::ranges::find_if(program.foreaches, is_of); site != program.foreaches.end())
      add_iteration(program, *site, *each, at, found);
    else if (const auto loop = std::ranges::find_if(program.loops, is_of); loop != program.loops.end())
      add_iteration(*loop, *each, found);
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace raddle::vm
