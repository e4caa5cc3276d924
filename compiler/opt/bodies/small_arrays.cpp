#include "compiler/opt/bodies/small_arrays.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/bodies/array_elements.hpp"
#include "compiler/opt/bodies/known_shapes.hpp"
#include "compiler/opt/rewrite/known_values.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/straighten.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

constexpr std::size_t most_inlined = 250;      ///< operations of a function
constexpr std::size_t most_with_loops = 1000;  ///< of a function, beyond which no loops over arrays come into it
constexpr std::size_t most_unrolled = 400;     ///< that a loop becomes
constexpr std::size_t most_operations_of_function = 4000;  ///< of a function, beyond which it does not grow any more
constexpr int most_rounds = 12;                            ///< each may show new extents

/// What may be done several times, or in another function: it is known by what it is given alone.
bool is_plain(const ir::Op& op) {
  if (op.priority.index != ir::none || op.rank.index != ir::none) return false;
  switch (op.kind) {
    case OpKind::call_builtin: {
      const stdlib::Builtin& builtin = stdlib::builtins()[op.callee];
      return stdlib::is_pure(builtin.effect) || builtin.effect == stdlib::BuiltinEffect::asserts;
    }
    case OpKind::foreach_range: return op.placement == vm::Placement::any;
    case OpKind::array_new:
    case OpKind::array_insert:
    case OpKind::array_list:
    case OpKind::struct_make:
    case OpKind::struct_get:
    case OpKind::if_:
    case OpKind::loop:
    case OpKind::wait:
    case OpKind::call: return true;
    default: return ir::info(op.kind).effect <= ir::Effect::fails;
  }
}

std::size_t count_operations(const ir::Function& function) {
  std::size_t count = 0;
  for (const ir::Region& region : function.regions) count += region.ops.size();
  return count;
}

/// Functions whose bodies may stand in the place of their calls.
class Inlinable {
 public:
  explicit Inlinable(const ir::Module& module) : module_(module), found_(module.functions.size(), Found::unknown) {}

  bool contains(ir::FunctionId id) {
    if (found_[id] == Found::unknown) {
      found_[id] = Found::no;  // who calls itself, as it is asked for again meanwhile
      found_[id] = look_at(id) ? Found::yes : Found::no;
    }
    return found_[id] == Found::yes;
  }

 private:
  enum class Found : std::uint8_t { unknown, no, yes };

  bool look_at(ir::FunctionId id) {
    const ir::Function& function = module_.functions[id];
    if (id == module_.entry || function.kind != ir::FunctionKind::composite || function.demands_leaf ||
        function.placement != vm::Placement::any || function.file_output_count != 0 ||
        count_operations(function) > most_inlined)
      return false;
    // an output that is never set, or twice, is told where it is declared
    const std::vector<std::uint32_t> assignments = count_assignments(function);
    if (!std::ranges::all_of(function.outputs, [&](ir::VarId output) { return assignments[output] == 1; }))
      return false;
    for (const ir::Region& region : function.regions)
      for (const ir::Op& op : region.ops)
        if (!is_plain(op) || (op.kind == OpKind::call && !contains(op.callee))) return false;
    return true;
  }

  const ir::Module& module_;
  std::vector<Found> found_;
};

class Replacer {
 public:
  Replacer(ir::Module& module, ir::Function& function, Inlinable& inlinable)
      : module_(module), types_(*module.types), function_(function), inlinable_(inlinable) {}

  void run() {
    // shapes that are known then bring more loops side by side
    for (int round = 0; round < most_rounds && inline_short_functions(); ++round) use_known_shapes(module_, function_);
    if (!may_have_small_arrays()) return;
    for (int round = 0; round < most_rounds && count_operations(function_) < most_operations_of_function; ++round) {
      if (inline_calls_of_small_arrays()) continue;
      const KnownValues known(module_, function_, [](const ir::Op&) { return false; });
      bool changed = replace_known(known);
      changed |= take_known_branches(module_, function_);
      changed |= unroll(known);
      changed |= list_elements(known, function_);
      changed |= carry_elements(known, module_, function_);
      changed |= forward_elements(module_, function_);
      if (!changed) break;
    }
    ir::count_writers(function_);
  }

 private:
  bool is_small(const ir::Operand& operand) const {
    if (!operand.is_constant) return false;
    const auto* const number = std::get_if<std::int64_t>(&module_.constants[operand.index]);
    return number != nullptr && *number <= most_elements;
  }

  /// Something gives rise to the extents that all others have.
  bool may_have_small_arrays() const {
    const auto makes_one = [&](const ir::Op& op) {
      if (op.kind == OpKind::struct_make && gives_dense(op))
        return std::ranges::all_of(op.operands.begin() + 1, op.operands.end(),
                                   [&](const ir::Operand& extent) { return is_small(extent); });
      if (op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == "@extent")
        return is_small(op.operands[1]);
      return op.kind == OpKind::call && inlinable_.contains(op.callee) && gives_dense(op) &&
             std::ranges::any_of(op.operands, [&](const ir::Operand& operand) { return is_small(operand); });
    };
    return std::ranges::any_of(function_.regions,
                               [&](const ir::Region& region) { return std::ranges::any_of(region.ops, makes_one); });
  }

  TypeId type_of(ir::VarId variable) const { return types_.base(function_.variables[variable].type); }
  bool gives_dense(const ir::Op& op) const {
    return std::ranges::any_of(op.results, [&](ir::VarId result) { return types_.is_dense(type_of(result)); });
  }

  // ---------------------------------------------------------------- calls

  /// Functions of a few loops over arrays, where these loops can be fused with others.
  bool inline_short_functions() {
    if (count_operations(function_) >= most_with_loops) return false;
    const std::set<ir::VarId> wanted = results_beside_loops();
    if (wanted.empty()) return false;
    return inline_calls([&](const ir::Op& call) { return !call.results.empty() && wanted.contains(call.results[0]); });
  }

  bool is_short_function(const ir::Op& op) {
    if (op.kind != OpKind::call || op.priority.index != ir::none || op.rank.index != ir::none || !gives_dense(op) ||
        !inlinable_.contains(op.callee))
      return false;
    return std::ranges::any_of(module_.functions[op.callee].regions, [](const ir::Region& region) {
      return std::ranges::any_of(region.ops, [](const ir::Op& each) { return each.kind == OpKind::foreach_range; });
    });
  }

  /// First results of calls of short functions whose region has others that make what the call reads, or that read the
  /// elements of what it makes. Calls without such neighbours stay: they are what `--memory` chooses by its data.
  std::set<ir::VarId> results_beside_loops() {
    std::set<ir::VarId> wanted;
    for (const ir::Region& region : function_.regions) {
      std::map<ir::VarId, ir::VarId> maker;  // of an array that a loop here makes: the call's first result, or none
      for (const ir::Op& op : region.ops) {
        if (op.kind == OpKind::array_new) maker.emplace(op.results[0], ir::none);
        if (is_short_function(op))
          for (const ir::VarId result : op.results) maker.emplace(result, op.results[0]);
        const bool is_part = op.kind == OpKind::struct_make || (op.kind == OpKind::struct_get && op.number == 0);
        if (!is_part || op.operands[0].is_constant) continue;
        if (const auto found = maker.find(op.operands[0].index); found != maker.end())
          maker.emplace(op.results[0], found->second);
      }
      if (maker.empty()) continue;
      for (const ir::Op& op : region.ops)
        visit_nested(function_, op, [&](const ir::Op& reader) { note_neighbours(reader, maker, wanted); });
    }
    return wanted;
  }

  void note_neighbours(const ir::Op& reader, const std::map<ir::VarId, ir::VarId>& maker, std::set<ir::VarId>& wanted) {
    const bool is_short = is_short_function(reader);
    const bool reads_elements = reader.kind == OpKind::array_get || reader.kind == OpKind::call_builtin ||
                                (reader.kind == OpKind::call && inlinable_.contains(reader.callee));
    if (!reads_elements) return;
    for (const ir::Operand& operand : reader.operands) {
      if (operand.is_constant || !types_.is_array(type_of(operand.index))) continue;
      const auto found = maker.find(operand.index);
      if (found == maker.end()) continue;
      if (found->second != ir::none) wanted.insert(found->second);
      if (is_short) wanted.insert(reader.results[0]);
    }
  }

  bool inline_calls_of_small_arrays() {
    const KnownValues known(module_, function_, [this](const ir::Op& call) {
      return inlinable_.contains(call.callee) && gives_dense(call);
    });
    find_small(known);
    return inline_calls([&](const ir::Op& call) { return can_inline(known, call); });
  }

  bool inline_calls(const std::function<bool(const ir::Op&)>& can_inline) {
    bool changed = false;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      const auto is_wanted = [&](const ir::Op& op) { return op.kind == OpKind::call && can_inline(op); };
      if (std::ranges::none_of(function_.regions[id].ops, is_wanted)) continue;
      std::vector<ir::Op> ops;
      for (ir::Op& op : std::exchange(function_.regions[id].ops, {})) {
        if (is_wanted(op))
          put_body(op, id, ops);
        else
          ops.push_back(std::move(op));
      }
      function_.regions[id].ops = std::move(ops);
      changed = true;
    }
    return changed;
  }

  /// Arrays of few elements, as far as is known.
  void find_small(const KnownValues& known) {
    small_.clear();
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops) {
        if (op.results.empty()) continue;
        bool is_small = false;
        if (op.kind == OpKind::array_list) is_small = op.operands.size() <= most_elements;
        if (op.kind == OpKind::array_new) is_small = small_count(known, op).has_value();
        if (op.kind == OpKind::struct_get && op.number == 0 && types_.is_dense(type_of(op.operands[0].index))) {
          const ir::VarId dense = op.operands[0].index;
          const auto count = known.element_count(dense);
          is_small = count ? *count <= most_elements : known.may_be_known(dense);
        }
        if (is_small) small_.insert(op.results[0]);
      }
  }

  bool can_inline(const KnownValues& known, const ir::Op& call) {
    if (call.priority.index != ir::none || call.rank.index != ir::none || !inlinable_.contains(call.callee))
      return false;
    bool has_array = false, is_known = true;
    for (const ir::Operand& operand : call.operands) {
      if (operand.is_constant) continue;
      const TypeId type = type_of(operand.index);
      if (types_.is_array(type)) {
        if (!small_.contains(operand.index)) return false;
        has_array = true;
      } else if (type == TypeStore::int_) {
        const auto number = known.number(operand);
        is_known &= number && *number <= most_elements;
      }
    }
    return has_array ||
           (is_known && gives_dense(call) && std::ranges::all_of(call.operands, [&](const ir::Operand& operand) {
              return !operand.is_constant || is_small(operand) ||
                     !std::holds_alternative<std::int64_t>(module_.constants[operand.index]);
            }));
  }

  void put_body(const ir::Op& call, ir::RegionId region, std::vector<ir::Op>& ops) {
    const ir::Function& callee = module_.functions[call.callee];
    RegionCopier copier(callee, function_);
    if (module_.sources != nullptr) copier.set_call(*module_.sources, call.span);
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) copier.set(callee.parameters[i], call.operands[i]);
    for (std::size_t i = 0; i < callee.outputs.size(); ++i)
      copier.set(callee.outputs[i], ir::Operand::variable(call.results[i]));
    std::ranges::move(copier.copy(0, region), std::back_inserter(ops));
  }

  // ---------------------------------------------------------------- what is known

  bool replace_known(const KnownValues& known) {
    const std::vector<std::uint32_t> assignments = count_assignments(function_);
    const std::vector<std::uint32_t> reads = count_reads(function_);
    Replacements replacements(function_);
    bool changed = false;
    const auto replace = [&](ir::VarId variable) {
      const ir::Constant* const value = known.of(ir::Operand::variable(variable));
      if (value == nullptr || reads[variable] == 0) return;
      replacements.add(variable, ir::Operand::constant(module_.constant(*value)));
      changed = true;
    };
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (const ir::Op& op : function_.regions[id].ops) {
        if (op.kind == OpKind::loop) std::ranges::for_each(function_.regions[op.regions[0]].parameters, replace);
        for (const ir::VarId result : op.results)
          if (assignments[result] == 1 && function_.variables[result].region == id) replace(result);
      }
    if (changed) replacements.apply(function_);
    return changed;
  }

  // ---------------------------------------------------------------- loops

  bool unroll(const KnownValues& known) {
    std::set<ir::VarId> small;
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::array_new && small_count(known, op)) small.insert(op.results[0]);
    bool changed = false;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id) {
      const auto is_wanted = [&](const ir::Op& op) {
        return op.kind == OpKind::foreach_range && can_unroll(known, op, small);
      };
      if (std::ranges::none_of(function_.regions[id].ops, is_wanted)) continue;
      std::vector<ir::Op> ops;
      for (ir::Op& op : std::exchange(function_.regions[id].ops, {})) {
        if (is_wanted(op))
          put_iterations(known, op, id, ops);
        else
          ops.push_back(std::move(op));
      }
      function_.regions[id].ops = std::move(ops);
      changed = true;
    }
    return changed;
  }

  bool can_unroll(const KnownValues& known, const ir::Op& loop, const std::set<ir::VarId>& small) const {
    const auto trips = trip_count(known, loop);
    if (!trips || *trips > most_elements) return false;
    std::size_t count = 0;
    bool touches = false, is_repeatable = true;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      ++count;
      is_repeatable &= is_plain(op) && (op.kind != OpKind::call || inlinable_.contains(op.callee));
      touches |= op.kind == OpKind::array_insert && small.contains(op.operands[0].index);
      touches |= op.kind == OpKind::array_get && small_.contains(op.operands[0].index);
    });
    return touches && is_repeatable &&
           count * static_cast<std::size_t>(std::max<std::int64_t>(*trips, 1)) <= most_unrolled;
  }

  void put_iterations(const KnownValues& known, const ir::Op& loop, ir::RegionId region, std::vector<ir::Op>& ops) {
    const ir::RegionId body = loop.regions[0];
    const std::vector<ir::VarId> parameters = function_.regions[body].parameters;
    const std::int64_t trips = *trip_count(known, loop), low = *known.number(loop.operands[0]),
                       step = *known.number(loop.operands[2]);
    const auto number = [&](std::int64_t value) { return ir::Operand::constant(module_.constant(value)); };
    for (std::int64_t trip = 0; trip < trips; ++trip) {
      RegionCopier copier(function_, function_);
      copier.set(parameters[0], number(low + trip * step));
      if (parameters.size() > 1) copier.set(parameters[1], number(trip));
      std::ranges::move(copier.copy(body, region), std::back_inserter(ops));
    }
    clear_region(function_, body);
  }

  ir::Module& module_;
  const TypeStore& types_;
  ir::Function& function_;
  Inlinable& inlinable_;
  std::set<ir::VarId> small_;
};

}  // namespace

void replace_small_arrays(ir::Module& module) {
  Inlinable inlinable(module);
  for (ir::Function& function : module.functions) Replacer(module, function, inlinable).run();
}

}  // namespace raddle::opt
