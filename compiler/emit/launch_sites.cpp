#include "compiler/emit/launch_sites.hpp"

#include <algorithm>
#include <ranges>
#include <span>

#include "compiler/emit/guarded_assignments.hpp"
#include "compiler/ir/nest_values.hpp"

namespace raddle::emit {

namespace {

vm::LaunchSink::Kind sink_kind(ir::AccessMode mode) {
  using Kind = vm::LaunchSink::Kind;
  switch (mode) {
    case ir::AccessMode::read:
    case ir::AccessMode::write: break;
    case ir::AccessMode::increment: return Kind::increment;
    case ir::AccessMode::minimum: return Kind::minimum;
    case ir::AccessMode::scale: return Kind::scale;
  }
  return Kind::element;
}

std::vector<ir::Operand> same_keys(const ir::Access& access) {
  std::vector<ir::Operand> keys;
  for (const ir::Key& key : access.keys)
    if (key.kind == ir::Key::Kind::same) keys.push_back(key.operand);
  return keys;
}

std::uint32_t count_computed(const ir::Access& access) {
  return static_cast<std::uint32_t>(std::ranges::count(access.keys, ir::Key::Kind::computed, &ir::Key::kind));
}

}  // namespace

vm::IndexLaunch index_launch(const ir::IndexLaunch& from, const OperandMap& operands, std::uint32_t body,
                             std::span<const ir::VarId> values) {
  const auto inputs = [&](std::span<const ir::Operand> from) {
    std::vector<vm::LaunchInput> made;
    for (const ir::Operand input : from) {
      const auto value = input.is_constant ? values.end() : std::ranges::find(values, input.index);
      if (value == values.end())
        made.push_back({.operand = operands.of(input, body)});
      else
        made.push_back({.operand = {}, .value = static_cast<std::uint32_t>(value - values.begin())});
    }
    return made;
  };
  vm::IndexLaunch launch{.leaf = from.kernel, .captures = inputs(from.captures)};
  launch.projection = from.projection;
  launch.projected = inputs(from.projected);
  for (const ir::Access& access : from.accesses) {
    const vm::Operand data = operands.of(access.data, body);
    const std::uint32_t key_count = count_computed(access);
    if (access.mode == ir::AccessMode::read)
      launch.reads.push_back({data, launch.key_count, key_count});
    else
      launch.sinks.push_back({sink_kind(access.mode), data, place_of(access.span), launch.key_count, key_count,
                              inputs(same_keys(access))});
    launch.key_count += key_count;
  }
  return launch;
}

const ir::Op& set_nest(vm::ForeachSite& site, const ir::Function& function, const OperandMap& operands,
                       const ir::Op& loop, std::uint32_t body, std::uint32_t inner_body) {
  const ir::LaunchNest& nest = function.nests[loop.nest];
  const ir::Op& inner = *ir::launch_within(function, loop);
  site.launch = index_launch(function.launches[nest.launch], operands, body, nest.values);
  site.nest = {.prelude = nest.prelude,
               .captures = operands.all(nest.captures, body),
               .low = operands.of(inner.operands[0], body),
               .high = operands.of(inner.operands[1], body),
               .step = operands.of(inner.operands[2], body),
               .values = operands.all(nest.values, inner_body)};
  for (const vm::LaunchRead& read : site.launch.reads)
    for (const vm::LaunchSink& sink : site.launch.sinks) site.nest.is_chained |= read.array == sink.target;
  return inner;
}

}  // namespace raddle::emit
