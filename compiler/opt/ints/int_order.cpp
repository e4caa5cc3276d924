#include "compiler/opt/ints/int_order.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace raddle::ints {

using ir::Operand;
using ir::OpKind;
using ir::RegionId;

namespace {

constexpr unsigned most_steps = 5;    ///< from one fact to the next
constexpr unsigned most_parts = 100;  ///< of a condition
constexpr std::size_t most_facts = 200;
constexpr std::int64_t most_offset = std::int64_t{1} << 61;

/// @return none: they are no offsets any more
std::optional<std::int64_t> sum_of_offsets(std::int64_t one, std::int64_t other) {
  if (std::max(std::abs(one), std::abs(other)) > most_offset) return std::nullopt;
  return one + other;
}

/// The sum with so much more.
std::optional<IntSum> moved(const IntSum& sum, std::int64_t by) {
  const auto offset = sum_of_offsets(sum.offset, by);
  return offset ? std::optional(IntSum{sum.base, *offset}) : std::nullopt;
}

bool is_boolean(const ir::Module& module, Operand operand, bool value) {
  if (!operand.is_constant) return false;
  const bool* const known = std::get_if<bool>(&module.constants[operand.index]);
  return known != nullptr && *known == value;
}

/// Of two ints: there are functions of that name of an array, too.
bool is_called_of_two(const ir::Op& op, std::string_view name) {
  return is_called(op, name) && op.operands.size() == 2;
}

std::optional<std::int64_t> lesser(std::optional<std::int64_t> one, std::optional<std::int64_t> other) {
  return one && other ? std::optional(std::min(*one, *other)) : std::nullopt;
}

std::optional<std::int64_t> greater(std::optional<std::int64_t> one, std::optional<std::int64_t> other) {
  return one && other ? std::optional(std::max(*one, *other)) : one ? one : other;
}

}  // namespace

IntOrder::IntOrder(const ir::Module& module, const ir::Function& function) : module_(module), function_(function) {
  for (RegionId region = 0; region < function.regions.size(); ++region)
    for (const ir::Op& op : function.regions[region].ops)
      for (std::size_t i = 0; i < op.regions.size(); ++i) owners_[op.regions[i]] = {&op, i};
  for (RegionId region = 0; region < function.regions.size(); ++region)
    for (const ir::Op& op : function.regions[region].ops)
      for (const ir::VarId result : op.results) {
        assignments_[result].push_back({&op, region});
        if (!is_of_same_iteration(result, region)) other_iterations_.insert(result);
      }
}

/// No loop stands between where a variable is declared and what assigns it: else that is what one iteration has done,
/// which need not be the one that reads it.
bool IntOrder::is_of_same_iteration(ir::VarId variable, RegionId assigned_in) const {
  const RegionId declared_in = function_.variables[variable].region;
  for (RegionId region = assigned_in; region != declared_in && region != ir::none;
       region = function_.regions[region].parent) {
    const auto owner = owners_.find(region);
    if (owner == owners_.end()) continue;
    const OpKind kind = owner->second.op->kind;
    if (kind == OpKind::foreach_range || kind == OpKind::foreach_array || kind == OpKind::loop) return false;
  }
  return true;
}

/// What assigns it. @return null: nothing, or what is not of the same iteration
const std::vector<IntOrder::Assignment>* IntOrder::assignments_of(Operand operand) const {
  if (operand.is_constant || other_iterations_.contains(operand.index)) return nullptr;
  const auto found = assignments_.find(operand.index);
  return found == assignments_.end() ? nullptr : &found->second;
}

const ir::Op* IntOrder::maker_of(Operand operand) const {
  const std::vector<Assignment>* const all = assignments_of(operand);
  return all == nullptr || all->size() != 1 ? nullptr : all->front().op;
}

IntSum IntOrder::sum_of(Operand operand) const {
  return int_sum(
      module_, operand, [this](Operand of) { return maker_of(of); }, SumsOf::indices);
}

bool IntOrder::is_index(Operand index, Operand extent, RegionId region) {
  const IntSum sum = sum_of(index);
  const auto next = moved(sum, 1);
  return next && least(sum, region, most_steps).value_or(-1) >= 0 &&
         is_at_most(*next, sum_of(extent), region, most_steps);
}

/// What several operations, in arms of one `if`, assign to the sum's base. @return null: none such
const std::vector<IntOrder::Assignment>* IntOrder::arms_of(const IntSum& sum) const {
  const std::vector<Assignment>* const all = assignments_of(*sum.base);
  if (all == nullptr || all->size() != 2) return nullptr;
  const std::vector<Assignment>& arms = *all;
  const auto is_copy = [](const Assignment& each) { return each.op->kind == OpKind::copy; };
  const auto one = owners_.find(arms[0].region), other = owners_.find(arms[1].region);
  const bool are_arms = one != owners_.end() && other != owners_.end() && one->second.op == other->second.op &&
                        one->second.op->kind == OpKind::if_;
  return are_arms && std::ranges::all_of(arms, is_copy) ? &arms : nullptr;
}

/// The greatest number that the sum is known not to be below.
std::optional<std::int64_t> IntOrder::least(const IntSum& sum, RegionId region, unsigned steps) {
  if (!sum.base) return sum.offset;
  if (steps == 0 || sum.base->is_constant) return std::nullopt;
  std::optional<std::int64_t> base;
  const auto of = [&](Operand operand) { return least(sum_of(operand), region, steps - 1); };
  if (const std::vector<Assignment>* const arms = arms_of(sum)) {
    const auto of_arm = [&](const Assignment& arm) {
      return least(sum_of(arm.op->operands[0]), arm.region, steps - 1);
    };
    base = lesser(of_arm((*arms)[0]), of_arm((*arms)[1]));
  } else if (const ir::Op* const made = maker_of(*sum.base)) {
    if (is_called_of_two(*made, "min"))
      base = lesser(of(made->operands[0]), of(made->operands[1]));
    else if (is_called_of_two(*made, "max"))
      base = greater(of(made->operands[0]), of(made->operands[1]));
    else if (made->kind == OpKind::mod && of(made->operands[0]).value_or(-1) >= 0)
      base = 0;
    else if (made->kind == OpKind::add || made->kind == OpKind::index_add)
      if (const auto one = of(made->operands[0]), other = of(made->operands[1]); one && other)
        base = sum_of_offsets(*one, *other);
  }
  for (const Fact& fact : facts_of(region)) {
    if (fact.high.base != sum.base) continue;
    const auto low = least(fact.low, region, steps - 1);
    if (low) base = greater(base, sum_of_offsets(*low, -fact.high.offset));
  }
  return base ? sum_of_offsets(*base, sum.offset) : std::nullopt;
}

bool IntOrder::is_at_most(const IntSum& low, const IntSum& high, RegionId region, unsigned steps) {
  if (low.base == high.base) return low.offset <= high.offset;
  if (steps == 0) return false;
  if (!low.base && least(high, region, steps - 1).value_or(low.offset - 1) >= low.offset) return true;
  const auto is_lower = [&](Operand operand, RegionId where) {
    const auto sum = moved(sum_of(operand), low.offset);
    return sum && is_at_most(*sum, high, where, steps - 1);
  };
  if (low.base && !low.base->is_constant) {
    if (const std::vector<Assignment>* const arms = arms_of(low))
      if (std::ranges::all_of(*arms, [&](const Assignment& arm) { return is_lower(arm.op->operands[0], arm.region); }))
        return true;
    if (const ir::Op* const made = maker_of(*low.base)) {
      if (is_called_of_two(*made, "min") &&
          (is_lower(made->operands[0], region) || is_lower(made->operands[1], region)))
        return true;
      if (is_called_of_two(*made, "max") && is_lower(made->operands[0], region) && is_lower(made->operands[1], region))
        return true;
      // the rest is below what is divided by, if that is positive
      const auto divisor = made->kind == OpKind::mod ? moved(sum_of(made->operands[1]), low.offset - 1) : std::nullopt;
      if (divisor && least(sum_of(made->operands[1]), region, steps - 1).value_or(0) > 0 &&
          is_at_most(*divisor, high, region, steps - 1))
        return true;
    }
  }
  return std::ranges::any_of(facts_of(region), [&](const Fact& fact) {
    if (fact.low.base != low.base) return false;
    const auto apart = sum_of_offsets(low.offset, -fact.low.offset);
    const auto next = apart ? moved(fact.high, *apart) : std::nullopt;
    return next && is_at_most(*next, high, region, steps - 1);
  });
}

/// low + apart <= high
void IntOrder::add_order(std::vector<Fact>& facts, const IntSum& low, const IntSum& high, std::int64_t apart) {
  if (const auto from = moved(low, apart)) facts.push_back({*from, high});
}

void IntOrder::add_condition(std::vector<Fact>& facts, Operand condition, bool holds, RegionId region,
                             unsigned& parts) {
  if (condition.is_constant || parts == 0 || facts.size() > most_facts) return;
  --parts;
  const auto add = [&](Operand part, bool part_holds) { add_condition(facts, part, part_holds, region, parts); };
  if (const std::vector<Assignment>* const arms = arms_of({condition, 0})) {
    // `a && b` where b is only computed if a holds: if a { c = b } else { c = false }; likewise `a || b`
    const Owner& branches = owners_.at((*arms)[0].region);
    const auto of_arm = [&](std::size_t place) { return (*arms)[branches.place == place ? 0 : 1].op->operands[0]; };
    if (holds && is_boolean(module_, of_arm(1), false)) {
      add(branches.op->operands[0], true);
      add(of_arm(0), true);
    } else if (!holds && is_boolean(module_, of_arm(0), true)) {
      add(branches.op->operands[0], false);
      add(of_arm(1), false);
    }
    return;
  }
  const ir::Op* const made = maker_of(condition);
  if (made == nullptr) return;
  const auto sum = [&](std::size_t operand) { return sum_of(made->operands[operand]); };
  switch (made->kind) {
    case OpKind::copy: return add(made->operands[0], holds);
    case OpKind::not_: return add(made->operands[0], !holds);
    case OpKind::and_:
    case OpKind::or_:
      if (holds != (made->kind == OpKind::and_)) return;
      add(made->operands[0], holds);
      return add(made->operands[1], holds);
    default: break;
  }
  if (made->operands.size() != 2 || !is_int(made->operands[0])) return;
  const auto is_below = [&](bool is_swapped, std::int64_t apart) {
    add_order(facts, sum(is_swapped ? 1 : 0), sum(is_swapped ? 0 : 1), apart);
  };
  switch (made->kind) {
    case OpKind::lt: return is_below(!holds, holds ? 1 : 0);
    case OpKind::le: return is_below(!holds, holds ? 0 : 1);
    case OpKind::gt: return is_below(holds, holds ? 1 : 0);
    case OpKind::ge: return is_below(holds, holds ? 0 : 1);
    case OpKind::eq:
    case OpKind::ne:
      if (holds == (made->kind == OpKind::eq)) {
        is_below(false, 0);
        is_below(true, 0);
      } else {  // what is not less, and differs, is greater
        const IntSum one = sum(0), other = sum(1);
        const RegionId around = function_.regions[region].parent;
        if (is_at_most(one, other, around, most_steps)) add_order(facts, one, other, 1);
        if (is_at_most(other, one, around, most_steps)) add_order(facts, other, one, 1);
      }
      return;
    default: return;
  }
}

bool IntOrder::is_int(Operand operand) const {
  return operand.is_constant ? std::holds_alternative<std::int64_t>(module_.constants[operand.index])
                             : function_.variables[operand.index].type == TypeStore::int_;
}

const std::vector<IntOrder::Fact>& IntOrder::facts_of(RegionId region) {
  if (const auto found = facts_.find(region); found != facts_.end()) return found->second;
  std::vector<Fact> facts;
  if (region != ir::none) {
    facts = facts_of(function_.regions[region].parent);
    if (const auto owner = owners_.find(region); owner != owners_.end()) {
      const ir::Op& op = *owner->second.op;
      if (op.kind == OpKind::if_) {
        unsigned parts = most_parts;
        add_condition(facts, op.operands[0], owner->second.place == 0, region, parts);
      } else if (op.kind == OpKind::foreach_range) {
        const auto step = int_constant(module_, op.operands[2]);
        const IntSum variable{Operand::variable(function_.regions[region].parameters[0]), 0};
        if (step && *step > 0) {
          facts.push_back({sum_of(op.operands[0]), variable});
          facts.push_back({variable, sum_of(op.operands[1])});
        }
      } else if (op.kind == OpKind::foreach_array && op.operands.size() == 2) {
        const IntSum key{Operand::variable(function_.regions[region].parameters[1]), 0};
        IntSum last = sum_of(op.operands[1]);
        --last.offset;
        facts.push_back({IntSum{std::nullopt, 0}, key});
        facts.push_back({key, last});
      }
    }
  }
  return facts_.emplace(region, std::move(facts)).first->second;
}

}  // namespace raddle::ints
