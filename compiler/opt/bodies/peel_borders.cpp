#include "compiler/opt/bodies/peel_borders.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/writers.hpp"
#include "compiler/opt/bodies/border_tests.hpp"
#include "compiler/opt/bodies/fold_constants.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/straighten.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

constexpr unsigned most_peels = 12;           ///< of one function
constexpr std::size_t most_operations = 400;  ///< of a loop

class Peeler {
 public:
  Peeler(ir::Module& module, ir::Function& function) : module_(module), function_(function) {}

  void run() {
    for (unsigned peels = 0; peels < most_peels && peel_one(0, /*is_recurrent=*/false); ++peels) tidy();
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }
  static std::int64_t sign(bool is_at_low) { return is_at_low ? 1 : -1; }

  /// @param is_recurrent  some loop around is
  bool peel_one(ir::RegionId region, bool is_recurrent) {
    for (std::size_t i = 0; i < ops(region).size(); ++i) {
      const bool is_loop = ops(region)[i].kind == OpKind::foreach_range;
      const bool is_it = is_recurrent || (is_loop && has_recurrence(ops(region)[i]));
      if (is_it && is_loop && can_be_peeled(ops(region)[i]))
        if (const std::optional<Iterations> border = find_border(ops(region)[i])) {
          peel(region, i, *border);
          return true;
        }
      for (const ir::RegionId within : std::vector(ops(region)[i].regions))
        if (peel_one(within, is_it)) return true;
    }
    return false;
  }

  /// It reads elements of an array that it writes, and has branches, or indices that begin anew at the end.
  bool has_recurrence(const ir::Op& loop) const {
    std::set<ir::VarId> written, read;
    bool has_tests = false;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      if (op.kind == OpKind::array_insert) written.insert(op.operands[0].index);
      if (op.kind == OpKind::array_get) read.insert(op.operands[0].index);
      has_tests |= op.kind == OpKind::if_ || op.kind == OpKind::mod;
    });
    return has_tests && std::ranges::any_of(written, [&](ir::VarId array) { return read.contains(array); });
  }

  /// Nothing in it depends on how many iterations came before, as random numbers do.
  bool can_be_peeled(const ir::Op& loop) {
    const std::vector<ir::VarId>& parameters = function_.regions[loop.regions[0]].parameters;
    if (loop.is_whole || parameters.size() != 2 || loop.operands[2] != constant(std::int64_t{1}) ||
        ir::type_of(module_, function_, loop.operands[0]) != TypeStore::int_ ||
        count_reads(function_)[parameters[1]] != 0)
      return false;
    std::size_t count = 0;
    bool is_possible = true;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      ++count;
      const bool is_pure_call =
          op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].effect <= stdlib::BuiltinEffect::deviates;
      is_possible &= ir::info(op.kind).effect < ir::Effect::creates || is_pure_call ||
                     op.kind == OpKind::array_insert || op.kind == OpKind::if_ || op.kind == OpKind::foreach_range;
    });
    return is_possible && count <= most_operations;
  }

  std::optional<Iterations> find_border(const ir::Op& loop) const {
    const BorderTests tests(module_, function_);
    std::optional<Iterations> found;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      for (const bool is_at_low : {true, false})
        if (!found)
          if (const auto test = tests.test(loop, op, is_at_low)) found = border_of(*test);
    });
    return found;
  }

  void peel(ir::RegionId region, std::size_t index, const Iterations& border) {
    const ir::Op loop = ops(region)[index];
    RegionCopier copier(function_, function_);
    ir::Op copy = copier.copy(loop, region);
    settle(loop, all_but(border));
    settle(copy, border);
    std::vector<ir::Op> before;
    ir::Op& rest = ops(region)[index];
    const std::size_t near = border.is_at_low ? 0 : 1, far = 1 - near;
    const std::int64_t away = sign(border.is_at_low);
    const Operand edge = moved(region, loop.operands[near], away * (border.count() - 1), loop.span, before);
    rest.operands[near] = moved(region, loop.operands[near], away * border.count(), loop.span, before);
    copy.operands[far] = bounded(region, edge, loop.operands[far], border.is_at_low, loop.span, before);
    before.push_back(std::move(copy));
    ops(region).insert(ops(region).begin() + static_cast<std::ptrdiff_t>(index), before.begin(), before.end());
  }

  /// Tests of the loop's variable come to the same in all of its iterations.
  void settle(const ir::Op& loop, const Iterations& iterations) {
    std::map<ir::VarId, ir::Op> settled;  // by result
    std::vector<Operand> unread;
    {
      const BorderTests tests(module_, function_);
      visit_nested(function_, loop, [&](const ir::Op& op) {
        const auto wrapped = tests.wrapped_index(loop, op);
        const auto test = wrapped ? wrapped->test : tests.test(loop, op, iterations.is_at_low);
        const std::optional<bool> holds = test ? outcome(*test, iterations) : std::nullopt;
        if (!holds || (wrapped && *holds)) return;
        ir::Op& made = settled[op.results[0]] = op;
        if (!wrapped) return become(made, constant(*holds));
        unread.push_back(op.operands[0]);
        made.kind = OpKind::add;
        made.operands = {wrapped->variable, constant(wrapped->offset)};
      });
    }
    for (ir::Region& each : function_.regions)
      for (ir::Op& op : each.ops)
        if (const auto found = op.results.empty() ? settled.end() : settled.find(op.results[0]); found != settled.end())
          op = found->second;
    for (const Operand sum : unread) drop_sum(sum);
  }

  /// Terms of an index that nobody reads any more. They overflow only where the loop would never end.
  void drop_sum(Operand sum) {
    if (sum.is_constant || count_reads(function_)[sum.index] != 0) return;
    const ir::RegionId region = function_.variables[sum.index].region;
    const auto makes_it = [&](const ir::Op& op) { return !op.results.empty() && op.results[0] == sum.index; };
    const auto made = std::ranges::find_if(ops(region), makes_it);
    if (made == ops(region).end() || (made->kind != OpKind::add && made->kind != OpKind::sub)) return;
    const std::vector<Operand> terms = made->operands;
    ops(region).erase(made);
    std::erase(function_.regions[region].variables, sum.index);
    for (const Operand term : terms) drop_sum(term);
  }

  Operand constant(ir::Constant value) { return Operand::constant(module_.constant(std::move(value))); }
  static void become(ir::Op& op, Operand value) {
    op.kind = OpKind::copy;
    op.operands = {value};
  }

  Operand moved(ir::RegionId region, Operand bound, std::int64_t by, Span span, std::vector<ir::Op>& before) {
    if (by == 0) return bound;
    return add(region, by > 0 ? OpKind::add : OpKind::sub, {bound, constant(std::abs(by))}, span, before);
  }

  /// The border's other end, if the loop has so many iterations.
  Operand bounded(ir::RegionId region, Operand edge, Operand end, bool is_at_low, Span span,
                  std::vector<ir::Op>& before) {
    const Operand made = add(region, OpKind::call_builtin, {edge, end}, span, before);
    before.back().callee = stdlib::find_builtin(is_at_low ? "min_integer" : "max_integer").value();
    return made;
  }

  Operand add(ir::RegionId region, OpKind kind, std::vector<Operand> operands, Span span, std::vector<ir::Op>& before) {
    ir::Op op;
    op.kind = kind;
    op.operands = std::move(operands);
    op.results = {static_cast<ir::VarId>(function_.variables.size())};
    op.span = span;
    function_.variables.push_back({"", TypeStore::int_, span, region});
    function_.regions[region].variables.push_back(op.results[0]);
    before.push_back(std::move(op));
    return Operand::variable(before.back().results[0]);
  }

  /// Branches that are known now go.
  void tidy() {
    for (bool has_changed = true; has_changed;) {
      fold_constants(module_, function_);
      has_changed = fold_conditions();
    }
    take_known_branches(module_, function_);
    while (drop_unread_conditions()) continue;
    ir::count_writers(function_);
  }

  /// Else they would be borders once more. @return whether there were some
  bool drop_unread_conditions() {
    const std::vector<std::uint32_t> reads = count_reads(function_);
    const auto is_unread = [&](const ir::Op& op) {
      return op.results.size() == 1 && reads[op.results[0]] == 0 && ir::info(op.kind).effect == ir::Effect::pure &&
             function_.variables[op.results[0]].type == TypeStore::boolean;
    };
    std::size_t count = 0;
    for (ir::Region& region : function_.regions) count += std::erase_if(region.ops, is_unread);
    return count != 0;
  }

  /// `true || x`, `false && x` and the like. @return whether some have been folded
  bool fold_conditions() {
    bool has_changed = false;
    for (ir::Region& region : function_.regions) {
      for (ir::Op& op : region.ops) {
        if (op.kind != OpKind::and_ && op.kind != OpKind::or_) continue;
        for (const std::size_t side : {0UZ, 1UZ}) {
          if (!op.operands[side].is_constant) continue;
          const bool decides = module_.constants[op.operands[side].index] == ir::Constant(op.kind == OpKind::or_);
          become(op, op.operands[decides ? side : 1 - side]);
          has_changed = true;
          break;
        }
      }
    }
    return has_changed;
  }

  ir::Module& module_;
  ir::Function& function_;
};

}  // namespace

void peel_borders(ir::Module& module) {
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) Peeler(module, function).run();
}

}  // namespace raddle::opt
