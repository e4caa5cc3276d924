#include "compiler/opt/leaves/plain_launch.hpp"

#include <algorithm>

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

bool is_write(const ir::Op& op) {
  return op.kind == OpKind::array_row || op.kind == OpKind::array_insert || op.kind == OpKind::array_hold ||
         op.kind == OpKind::update;
}

}  // namespace

PlainLaunch::PlainLaunch(const ir::Module& module, const ir::Function& around, const ir::Op& loop)
    : around_(around),
      loop_(loop),
      body_(around.regions[loop.regions[0]]),
      point_(!is_over_array()              ? body_.parameters[0]
             : body_.parameters.size() > 1 ? body_.parameters[1]
                                           : ir::none),
      accesses_(ir::body_accesses(module, around, loop)),
      copier_(module, around, loop, "launch") {}

std::optional<ir::Function> PlainLaunch::run() {
  const auto is_sink = [this](const ir::BodyAccess& write) { return this->is_sink(write); };
  if (!std::ranges::all_of(accesses_.writes, is_sink) || writes_inside() || copier_.counter_is_read() ||
      copier_.assigns_outside() || reads_what_it_writes())
    return std::nullopt;
  if (point_ == ir::none)
    copier_.add_unnamed_parameter(TypeStore::int_);
  else
    copier_.add_parameter(point_);
  if (is_over_array()) copier_.add_element(loop_.operands[0], body_.parameters[0]);
  copier_.copy_body([](const ir::Op& op) { return !is_write(op); });
  for (const ir::BodyAccess& write : accesses_.writes) copier_.add_output(write.op->operands.back(), write.op->span);
  return copier_.take_function();
}

std::vector<ir::Access> PlainLaunch::accesses() const {
  std::vector<ir::Access> made;
  for (const ir::BodyAccess& write : accesses_.writes) {
    made.push_back(ir::with_same_keys(write));
    if (write.mode == ir::AccessMode::write) made.back().keys.push_back({});  // the point
  }
  return made;
}

/// Where the value of a point goes: `A[i] = value`, `A[k][i] = value`, `u <incr> := value`, with `A`, `u` and `k`
/// from outside.
bool PlainLaunch::is_sink(const ir::BodyAccess& write) const {
  if (!is_from_outside(write.array) || write.mode == ir::AccessMode::row) return false;
  if (!is_element(write.mode)) return true;
  return point_ != ir::none && write.keys.back() == ir::Operand::variable(point_) &&
         write.fixed_keys + 1 == write.keys.size();
}

bool PlainLaunch::writes_inside() const {
  const auto is_written = [](const ir::BodyAccess& access) { return access.mode != ir::AccessMode::read; };
  return std::ranges::any_of(accesses_.inside, is_written);
}

/// An element may depend on others of the same loop: only dataflow finds an order.
bool PlainLaunch::reads_what_it_writes() const {
  return std::ranges::any_of(accesses_.writes, [&](const ir::BodyAccess& write) {
    return std::ranges::any_of(body_.ops, [&](const ir::Op& op) {
      if (is_write(op)) return false;
      const std::vector<ir::VarId> read = variables_read(around_, op);
      return std::ranges::find(read, write.array.index) != read.end();
    });
  });
}

}  // namespace raddle::opt
