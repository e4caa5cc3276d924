#include "compiler/emit/launch_sites.hpp"

#include <algorithm>
#include <ranges>
#include <span>

#include "compiler/emit/guarded_assignments.hpp"
#include "compiler/ir/nest_values.hpp"
#include "compiler/ir/waits_for_others.hpp"
#include "compiler/ir/writers.hpp"

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
    case ir::AccessMode::row: return Kind::row;
  }
  return Kind::element;
}

/// How many keys of rows, from the first one on, are the same for all points.
std::size_t count_row_keys(const ir::Access& access) {
  std::size_t count = 0;
  while (count + 1 < access.keys.size() && access.keys[count].kind == ir::Key::Kind::same) ++count;
  return count;
}

/// Where programs run beside it, a point may have to go before others of its loop can.
vm::LaunchStart start_of(const ir::Module& module, const ir::Function& function, const ir::IndexLaunch& launch,
                         const ir::Op& loop) {
  const std::vector<ir::VarId> around = ir::written_by_loops_around(function, function.regions[loop.regions[0]].parent);
  const auto is_written_around = [&](const ir::Access& access) {
    return access.mode == ir::AccessMode::read && std::ranges::find(around, access.data.index) != around.end();
  };
  if (std::ranges::any_of(launch.accesses, is_written_around) && (loop.is_whole || !ir::waits_for_others(module)))
    return vm::LaunchStart::at_last;
  return loop.is_whole || loop.is_needed ? vm::LaunchStart::at_arrays : vm::LaunchStart::at_elements;
}

/// @param body    of the loop's instruction
/// @param values  of a nest around the loop: what its prelude computes
/// @param loop  the loop that is the launch, or the outer one of a nest
vm::IndexLaunch index_launch(const ir::Module& module, const ir::Function& function, const ir::IndexLaunch& from,
                             const ir::Op& loop, const OperandMap& operands, std::uint32_t body,
                             std::span<const ir::VarId> values) {
  const auto input = [&](ir::Operand from) -> vm::LaunchInput {
    const auto value = from.is_constant ? values.end() : std::ranges::find(values, from.index);
    if (value == values.end()) return {.operand = operands.of(from, body)};
    return {.operand = {}, .value = static_cast<std::uint32_t>(value - values.begin())};
  };
  const auto inputs = [&](std::span<const ir::Operand> from) {
    std::vector<vm::LaunchInput> made;
    for (const ir::Operand each : from) made.push_back(input(each));
    return made;
  };
  const auto key = [&](const ir::Key& from) {
    vm::LaunchKey made{.result = from.result, .stride = from.stride, .offset = from.offset};
    if (from.kind == ir::Key::Kind::point) made.stride = 1;
    if (from.has_operand()) made.base = input(from.operand);
    return made;
  };
  vm::IndexLaunch launch{.leaf = from.kernel, .captures = inputs(from.captures)};
  for (vm::LaunchInput& capture : launch.captures) capture.is_needed = loop.is_needed;
  launch.start = start_of(module, function, from, loop);
  launch.waits_for_code = loop.is_chain;
  launch.projection = from.projection;
  launch.projected = inputs(from.projected);
  for (const ir::Access& access : from.accesses) {
    const vm::Operand data = operands.of(access.data, body);
    const auto first_key = static_cast<std::uint32_t>(launch.keys.size());
    const bool is_read = access.mode == ir::AccessMode::read;
    const bool is_row = access.mode == ir::AccessMode::row;
    const std::size_t row_keys = is_read || is_row ? 0 : count_row_keys(access);
    if (from.is_projected())
      for (std::size_t i = row_keys; i < access.keys.size(); ++i) launch.keys.push_back(key(access.keys[i]));
    const auto key_count = static_cast<std::uint32_t>(launch.keys.size()) - first_key;
    if (is_read) {
      launch.reads.push_back({data, first_key, key_count});
      continue;
    }
    vm::LaunchSink& sink =
        launch.sinks.emplace_back(sink_kind(access.mode), data, place_of(access.span), first_key, key_count);
    if (is_row) {
      sink.width = operands.of(access.keys[0].operand, body);
      sink.row = key(access.keys[1]);
    }
    for (std::size_t i = 0; i < row_keys; ++i) sink.row_keys.push_back(input(access.keys[i].operand));
  }
  return launch;
}

/// It is one, or it is around one and computes nothing else.
bool is_launch(const ir::Function& function, const ir::Op& loop) {
  if (loop.launch != ir::none || loop.nest != ir::none) return true;
  if (loop.kind != ir::OpKind::foreach_range) return false;
  const ir::Op* inner = nullptr;
  for (const ir::Op& op : function.regions[loop.regions[0]].ops) {
    if (op.kind == ir::OpKind::foreach_range && !inner)
      inner = &op;
    else if (!op.regions.empty() || ir::info(op.kind).effect != ir::Effect::pure)
      return false;
  }
  return inner && is_launch(function, *inner);
}

std::vector<vm::ToldLoop> told_loops(const std::vector<ir::MergedLoop>& loops) {
  std::vector<vm::ToldLoop> told;
  for (const ir::MergedLoop& each : loops) told.push_back({place_of(each.span), each.variable, each.parameter});
  return told;
}

}  // namespace

void set_launch(vm::ForeachSite& site, const ir::Module& module, const ir::Function& function,
                const OperandMap& operands, const ir::Op& loop, std::uint32_t body) {
  site.launch = index_launch(module, function, function.launches[loop.launch], loop, operands, body, {});
  site.is_in_nest = std::ranges::find(function.nests, loop.launch, &ir::LaunchNest::launch) != function.nests.end();
}

vm::Fusion fusion_of(const ir::Function& function, const ir::Op& loop) {
  if (!is_launch(function, loop)) return {};
  const ir::RegionId around = function.regions[loop.regions[0]].parent;
  if (const ir::RegionId outer = function.regions[around].parent; outer != ir::none)
    for (const ir::Op& op : function.regions[outer].ops)
      if (std::ranges::find(op.regions, around) != op.regions.end() && is_launch(function, op)) return {};
  return {loop.swallowed + 1, loop.barrier};
}

std::vector<vm::ToldLoop> told_loops(const ir::Function& function, const ir::Op& loop) {
  return told_loops(ir::loops_in(function, loop));
}

std::vector<vm::CollapsedLoop> collapsed_loops(const OperandMap& operands, const ir::Op& loop, std::uint32_t body) {
  std::vector<vm::CollapsedLoop> made;
  for (const ir::CollapsedLoop& each : loop.collapsed)
    made.push_back({told_loops(each.merged), operands.of(each.low, body), operands.of(each.each, body)});
  return made;
}

vm::Operand element_of_result(const ir::Function& function, const OperandMap& operands, const Step& loop,
                              std::uint32_t body) {
  const ir::Region& region = function.regions[loop.op->regions[0]];
  for (const ir::Op& op : region.ops) {
    if (op.kind != ir::OpKind::array_insert || op.operands[1].is_constant) continue;
    const bool is_keyed_by_point = op.operands[1].index == region.parameters[0];
    if (is_keyed_by_point && loop.written.contains(op.operands[0].index)) return operands.of(op.operands[0], body);
  }
  return {};
}

const ir::Op& set_nest(vm::ForeachSite& site, const ir::Module& module, const ir::Function& function,
                       const OperandMap& operands, const ir::Op& loop, std::uint32_t body, std::uint32_t inner_body) {
  const ir::LaunchNest& nest = function.nests[loop.nest];
  const ir::Op& inner = *ir::launch_within(function, loop);
  site.launch = index_launch(module, function, function.launches[nest.launch], loop, operands, body, nest.values);
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

vm::LoopKernelSite loop_kernel(const ir::LoopKernel& from, const OperandMap& operands, std::uint32_t body) {
  vm::LoopKernelSite made{.leaf = from.kernel, .captures = operands.all(from.captures, body), .sinks = {}};
  for (const ir::LoopSink& sink : from.sinks)
    made.sinks.push_back({.array = operands.of(sink.array, body),
                          .is_sometimes = sink.is_sometimes,
                          .history = sink.history,
                          .stride = sink.stride,
                          .place = place_of(sink.span)});
  return made;
}

}  // namespace raddle::emit
