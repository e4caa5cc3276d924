#include "compiler/opt/launches/waiting_points.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/opt/rewrite/uses.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// The points of two accesses differ where they are of one element.
bool is_shifted(const ir::Key& read, const ir::Key& write) {
  const auto line = [](const ir::Key& key) {
    if (key.kind == ir::Key::Kind::point) return ir::Key{.kind = ir::Key::Kind::affine, .stride = 1};
    return key;
  };
  const ir::Key one = line(read), other = line(write);
  if (one.kind != ir::Key::Kind::affine || other.kind != ir::Key::Kind::affine) return false;
  return one.stride == other.stride && one.operand == other.operand && one.offset != other.offset;
}

bool waits_for_itself(const ir::IndexLaunch& launch) {
  for (const ir::Access& read : launch.accesses)
    for (const ir::Access& write : launch.accesses)
      if (read.mode == ir::AccessMode::read && write.mode == ir::AccessMode::write && read.data == write.data &&
          is_shifted(read.keys.back(), write.keys.back()))
        return true;
  return false;
}

/// Arrays that the loop's own text inserts into, in branches too.
std::set<ir::VarId> written_itself(const ir::Function& function, const ir::Op& loop) {
  std::set<ir::VarId> arrays;
  for (const ir::RegionId region : loop.regions)
    for (const ir::Op& op : function.regions[region].ops) {
      if (op.kind == OpKind::array_insert) arrays.insert(op.operands[0].index);
      if (op.kind == OpKind::if_ || op.kind == OpKind::switch_) arrays.merge(written_itself(function, op));
    }
  return arrays;
}

bool reads_any(const ir::Function& function, const ir::Op& loop, const std::set<ir::VarId>& arrays) {
  bool is_read = false;
  visit_nested(function, loop, [&](const ir::Op& op) {
    is_read = is_read || (op.kind == OpKind::array_get && arrays.contains(op.operands[0].index));
  });
  return is_read;
}

/// Finds loops whose points wait for others among some loops.
class WaitingPoints {
 public:
  WaitingPoints(const ir::Function& function, const std::vector<const ir::Op*>& loops) : function_(function) {
    for (const ir::Op* const loop : loops) written_.merge(inserted_into(function, *loop));
    for (const ir::Op* const loop : loops) visit_nested(function, *loop, [&](const ir::Op& op) { find_rows(op); });
  }
  void find_rows(const ir::Op& op) {
    if (op.launch == ir::none) return;
    const ir::IndexLaunch& launch = function_.launches[op.launch];
    if (reads(launch, ir::Key::Kind::affine) && !reads(launch, ir::Key::Kind::computed) && !waits_for_itself(launch))
      for (const ir::Access& write : launch.accesses)
        if (write.mode == ir::AccessMode::write) by_rows_.insert(write.data.index);
  }

  bool are_in(const ir::Op& op) const {
    if (op.launch != ir::none) {  // loops in it are parts of its kernel
      const ir::IndexLaunch& launch = function_.launches[op.launch];
      return waits_for_itself(launch) || waits_by_data(launch);
    }
    if (op.kind == OpKind::foreach_range && reads_any(function_, op, written_itself(function_, op))) return true;
    return std::ranges::any_of(op.regions, [&](ir::RegionId region) {
      return std::ranges::any_of(function_.regions[region].ops, [&](const ir::Op& inner) { return are_in(inner); });
    });
  }

 private:
  bool reads(const ir::IndexLaunch& launch, ir::Key::Kind kind) const {
    return std::ranges::any_of(launch.accesses, [&](const ir::Access& access) {
      return access.mode == ir::AccessMode::read && access.keys.back().kind == kind &&
             written_.contains(access.data.index);
    });
  }
  /// Each point waits by itself for elements that only it knows. Borders of what is otherwise computed row by row do
  /// so, too, which are few.
  bool waits_by_data(const ir::IndexLaunch& launch) const {
    const auto is_border = [&](const ir::Access& access) {
      return access.mode == ir::AccessMode::write && by_rows_.contains(access.data.index);
    };
    return reads(launch, ir::Key::Kind::computed) && std::ranges::none_of(launch.accesses, is_border);
  }

  const ir::Function& function_;
  std::set<ir::VarId> written_;
  std::set<ir::VarId> by_rows_;  ///< arrays of which launches compute rows from others
};

/// The order in which the points of loops are to come, by the keys of what these read.
class PointOrder {
 public:
  PointOrder(ir::Module& module, ir::Function& function, const ir::Op& around) : module_(module), function_(function) {
    visit_nested(function, around, [&](const ir::Op& op) {
      for (const ir::VarId result : op.results) made_by_[result] = &op;
      if (op.kind == OpKind::foreach_range) points_.insert(function.regions[op.regions[0]].parameters[0]);
    });
    const std::set<ir::VarId> written = inserted_into(function, around);
    visit_nested(function, around, [&](const ir::Op& op) {
      if (op.kind == OpKind::array_get && written.contains(op.operands[0].index)) look_at(op.operands[1]);
    });
    reads_ = count_reads(function);
  }

  /// The loop over descending points, if keys are of points that come later and of none that came before.
  void turn(ir::Op& loop) {
    const std::vector<ir::VarId>& parameters = function_.regions[loop.regions[0]].parameters;
    const bool is_numbered = parameters.size() > 1 && reads_[parameters[1]] != 0;
    if (is_numbered || !later_.contains(parameters[0]) || earlier_.contains(parameters[0])) return;
    if (number(loop.operands[2]) != 1) return;
    std::swap(loop.operands[0], loop.operands[1]);
    loop.operands[2] = Operand::constant(module_.constant(std::int64_t{-1}));
  }

 private:
  std::int64_t number(Operand operand) const {
    const auto* const known =
        operand.is_constant ? std::get_if<std::int64_t>(&module_.constants[operand.index]) : nullptr;
    return known ? *known : 0;
  }
  /// Of a key, down to the loops' variables.
  void look_at(Operand operand) {
    if (operand.is_constant || !seen_.insert(operand.index).second) return;
    const auto made = made_by_.find(operand.index);
    if (made == made_by_.end()) return;
    const ir::Op& op = *made->second;
    if (op.kind == OpKind::add || op.kind == OpKind::index_add) {
      note(op.operands[0], number(op.operands[1]));
      note(op.operands[1], number(op.operands[0]));
    }
    if (op.kind == OpKind::sub) note(op.operands[0], -number(op.operands[1]));
    for (const Operand each : op.operands) look_at(each);
  }
  void note(Operand point, std::int64_t distance) {
    if (!point.is_constant && distance != 0 && points_.contains(point.index))
      (distance > 0 ? later_ : earlier_).insert(point.index);
  }

  ir::Module& module_;
  ir::Function& function_;
  std::map<ir::VarId, const ir::Op*> made_by_;
  std::set<ir::VarId> points_;  ///< variables of loops
  std::set<ir::VarId> seen_, later_, earlier_;
  std::vector<std::uint32_t> reads_;
};

}  // namespace

bool has_waiting_points(const ir::Function& function, const std::vector<const ir::Op*>& loops) {
  const WaitingPoints waiting(function, loops);
  return std::ranges::any_of(loops, [&](const ir::Op* loop) { return waiting.are_in(*loop); });
}

void order_waiting_points(ir::Module& module, ir::Function& function, ir::Op& around) {
  if (!has_waiting_points(function, {&around})) return;
  PointOrder order(module, function, around);
  const auto turn = [&](ir::Op& op, const auto& turn) -> void {
    if (op.kind == OpKind::foreach_range) order.turn(op);
    for (const ir::RegionId region : op.regions)
      for (ir::Op& inner : function.regions[region].ops) turn(inner, turn);
  };
  turn(around, turn);
}

}  // namespace raddle::opt
