#include "vm/interpret/failed_iterations.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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

/// @param site  whose body the frame's is
/// @param found  gets the iteration, if there is something to tell it by
void add_iteration(const ForeachSite& site, Frame& frame, std::vector<FailedIteration>& found) {
  const auto has_name = [&](std::uint32_t slot) {
    return slot < site.parameter_count && !frame.body.variables[slot].name.empty();
  };
  const std::uint32_t slot = has_name(1) ? 1 : 0;
  if (!has_name(slot) && !site.is_whole) return;
  std::optional<FailedIteration> told = told_by(frame, slot, site.place);
  if (!told) return;
  if (!has_name(slot) && !site.element_of_result.is_absent()) {
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

std::vector<FailedIteration> failed_iterations(const Program& program, Frame& frame) {
  std::vector<FailedIteration> found;
  for (Frame* each = &frame; each != nullptr && found.size() < most_iterations; each = each->outer) {
    if (each->is_function()) continue;
    const auto body = static_cast<BodyId>(&each->body - program.bodies.data());
    const auto is_of = [&](const auto& site) { return site.body == body; };
    if (const auto site = std::ranges::find_if(program.foreaches, is_of); site != program.foreaches.end())
      add_iteration(*site, *each, found);
    else if (const auto loop = std::ranges::find_if(program.loops, is_of); loop != program.loops.end())
      add_iteration(*loop, *each, found);
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace raddle::vm
