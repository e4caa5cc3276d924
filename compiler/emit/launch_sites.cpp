#include "compiler/emit/launch_sites.hpp"

#include <algorithm>
#include <span>

#include "compiler/emit/guarded_assignments.hpp"
#include "compiler/ir/launch_accesses.hpp"
#include "compiler/ir/launch_nest.hpp"

namespace raddle::emit {

namespace {

vm::LaunchSink::Kind sink_kind(const ir::Op& op) {
  using Kind = vm::LaunchSink::Kind;
  if (op.kind == ir::OpKind::array_insert) return Kind::element;
  return op.number == 0 ? Kind::increment : op.number == 1 ? Kind::minimum : Kind::scale;
}

}  // namespace

vm::IndexLaunch index_launch(const ir::Module& module, const ir::Function& function, const OperandMap& operands,
                             const ir::Op& loop, std::uint32_t body, const std::vector<ir::VarId>& values) {
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
  const bool is_projected = loop.projection != ir::none;
  const ir::LaunchAccesses accesses = ir::launch_accesses(module, function, loop);
  vm::IndexLaunch launch{.leaf = loop.callee, .captures = inputs(loop.captures)};
  if (is_projected) {
    launch.projection = loop.projection;
    launch.projected = inputs(loop.projected);
    for (const ir::LaunchAccess& read : accesses.reads) {
      const auto keys = static_cast<std::uint32_t>(read.keys.size());
      launch.reads.push_back({operands.of(read.array, body), launch.key_count, keys});
      launch.key_count += keys;
    }
  }
  for (const ir::LaunchAccess& write : accesses.writes) {
    vm::LaunchSink sink{sink_kind(*write.op), operands.of(write.array, body), place_of(write.op->span)};
    sink.row_keys = inputs(std::span(write.keys).first(write.fixed_keys));
    if (is_projected) {
      sink.first_key = launch.key_count;
      sink.key_count = static_cast<std::uint32_t>(write.keys.size() - write.fixed_keys);
      launch.key_count += sink.key_count;
    }
    launch.sinks.push_back(std::move(sink));
  }
  return launch;
}

const ir::Op& set_nest(vm::ForeachSite& site, const ir::Module& module, const ir::Function& function,
                       const OperandMap& operands, const ir::Op& loop, std::uint32_t body, std::uint32_t inner_body) {
  const ir::LaunchNest nest = ir::launch_nest(module, function, loop);
  site.launch = index_launch(module, function, operands, *nest.inner, body, nest.values);
  site.nest = {.prelude = loop.prelude,
               .captures = operands.all(loop.captures, body),
               .low = operands.of(nest.inner->operands[0], body),
               .high = operands.of(nest.inner->operands[1], body),
               .step = operands.of(nest.inner->operands[2], body),
               .values = operands.all(nest.values, inner_body)};
  for (const vm::LaunchRead& read : site.launch.reads)
    for (const vm::LaunchSink& sink : site.launch.sinks) site.nest.is_chained |= read.array == sink.target;
  return *nest.inner;
}

}  // namespace raddle::emit
