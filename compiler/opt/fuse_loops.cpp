#include "compiler/opt/fuse_loops.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/ir/reduced_loops.hpp"
#include "compiler/opt/dead_code.hpp"
#include "compiler/opt/index_launches.hpp"
#include "compiler/opt/order_operations.hpp"
#include "compiler/opt/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

constexpr std::size_t most_operations_of_loop = 200;  ///< of a loop that is made: what registers hold

using Variables = std::set<ir::VarId>;
using Writers = std::map<ir::VarId, std::set<std::size_t>>;  // of each array the loops, as they are counted in a region

bool is_builtin(const ir::Op& op, std::string_view name) {
  return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == name;
}

/// Into which array or bag an operation writes; none: into none.
ir::VarId written_by(const ir::Op& op) {
  return ir::info(op.kind).effect == ir::Effect::writes && !op.operands.empty() ? op.operands[0].index : ir::none;
}

/// A loop that is an index launch and writes elements of arrays, each by its own number.
struct Loop {
  std::size_t number = 0;  ///< of its operation in the region
  ir::RegionId body = ir::none;
  Variables arrays_written = {};
};

/// What the operations of a region read and change, by their numbers; and by variable which of them read it.
struct Dependences {
  std::vector<std::vector<ir::VarId>> read, changed;
  std::map<ir::VarId, std::vector<std::size_t>> readers;
};

class Fuser {
 public:
  Fuser(ir::Module& module, ir::Function& function) : module_(module), function_(function), replacements_(function) {}

  /// Of a kernel, whose operations are done in their order. Loops whose numbers are reduced stay alone, for
  /// ir/reduced_loops.hpp.
  void run_in_order() {
    is_in_order_ = true;
    const ir::ReducedLoops reduced(module_, function_);
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::foreach_range && reduced.of(op)) kept_.insert(op.regions[0]);
    run();
  }
  /// @return true: something has changed
  bool run() {
    bool has_changed = false;
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region) has_changed |= fuse_in(region);
    if (has_changed) drop_temporaries();
    return has_changed;
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }
  const std::vector<ir::Op>& ops(ir::RegionId region) const { return function_.regions[region].ops; }

  bool fuse_in(ir::RegionId region) {
    dependences_.reset();
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < ops(region).size(); ++i)
      if (std::optional<Loop> loop = loop_at(region, i)) loops.push_back(std::move(*loop));
    Writers writers;
    for (std::size_t i = 0; i < loops.size(); ++i)
      for (const ir::VarId array : loops[i].arrays_written) writers[array].insert(i);
    bool has_changed = false;
    for (std::size_t second = 1; second < loops.size(); ++second) {
      for (std::optional<std::size_t> first = second; (first = writer_before(*first, loops[second].body, writers));) {
        if (!can_fuse(region, loops[*first], loops[second])) continue;
        for (const ir::VarId array : loops[*first].arrays_written) {
          writers[array].erase(*first);
          writers[array].insert(second);
        }
        fuse(region, loops[*first], loops[second]);
        has_changed = true;
      }
    }
    std::erase_if(ops(region), [](const ir::Op& op) { return op.kind == OpKind::foreach_range && op.regions.empty(); });
    return has_changed;
  }

  /// The last loop before one that writes an array which a body reads: others can not be fused with it.
  std::optional<std::size_t> writer_before(std::size_t number, ir::RegionId body, const Writers& writers) const {
    std::optional<std::size_t> last;
    for (const ir::Op& op : ops(body)) {
      visit_nested(function_, op, [&](const ir::Op& inner) {
        for (const Operand operand : inner.operands) {
          const auto found = operand.is_constant ? writers.end() : writers.find(operand.index);
          if (found == writers.end()) continue;
          const auto next = found->second.lower_bound(number);
          if (next != found->second.begin()) last = std::max(last, std::optional(*std::prev(next)));
        }
      });
    }
    return last;
  }

  std::optional<Loop> loop_at(ir::RegionId region, std::size_t number) const {
    const ir::Op& op = ops(region)[number];
    if (op.kind != OpKind::foreach_range || kept_.contains(op.regions[0]) || !is_plain_launch(module_, function_, op))
      return std::nullopt;
    Loop loop{.number = number, .body = op.regions[0]};
    for (const ir::Op& inner : ops(loop.body)) {
      if (inner.kind == OpKind::array_insert)
        loop.arrays_written.insert(inner.operands[0].index);
      else if (ir::info(inner.kind).effect == ir::Effect::writes || inner.kind == OpKind::update)
        return std::nullopt;
    }
    return loop;
  }

  // ---- the four constraints, in the paper's order

  /// Equal launch spaces; and both wait for whole arrays, or none, and run at one place.
  bool have_one_space(const ir::Op& first, const ir::Op& second) const {
    return first.operands == second.operands && first.is_whole == second.is_whole &&
           first.placement == second.placement;
  }

  /// What the second loop reads of the first one's it reads at its own point; there is some.
  bool reads_own_points(const Loop& first, const Loop& second) const {
    const Operand point = Operand::variable(function_.regions[second.body].parameters[0]);
    bool reads = false, is_own = true;
    for (const ir::Op& op : ops(second.body)) {
      visit_nested(function_, op, [&](const ir::Op& inner) {
        for (std::size_t i = 0; i < inner.operands.size(); ++i) {
          const Operand operand = inner.operands[i];
          if (operand.is_constant || !first.arrays_written.contains(operand.index)) continue;
          reads = true;
          is_own = is_own && i == 0 && inner.kind == OpKind::array_get && inner.operands[1] == point;
        }
      });
    }
    return reads && is_own;
  }

  /// The first one reads nothing that the second one writes, and none writes what the other one does.
  bool is_free_of_the_second(const ir::Op& first, const Loop& one, const Loop& other) const {
    const std::vector<ir::VarId> read = variables_read(function_, first);
    const auto is_written = [&](ir::VarId id) { return other.arrays_written.contains(id); };
    return std::ranges::none_of(read, is_written) && std::ranges::none_of(one.arrays_written, is_written);
  }

  /// Nothing else that depends on the first one is needed by the second one: it would wait for itself.
  bool needs_nothing_between(ir::RegionId region, const Loop& first, const Loop& second) {
    const auto is_declared_here = [&](ir::VarId id) { return function_.variables[id].region == region; };
    if (!std::ranges::all_of(first.arrays_written, is_declared_here)) return false;
    if (!dependences_) find_dependences(region);
    Variables depend = first.arrays_written;
    std::vector<ir::VarId> followed(depend.begin(), depend.end());
    while (!followed.empty()) {
      const auto readers = dependences_->readers.find(followed.back());
      followed.pop_back();
      if (readers == dependences_->readers.end()) continue;
      for (const std::size_t reader : readers->second) {
        if (reader == first.number || reader == second.number) continue;
        for (const ir::VarId id : dependences_->changed[reader])
          if (depend.insert(id).second) followed.push_back(id);
      }
    }
    return std::ranges::none_of(dependences_->read[second.number], [&](ir::VarId id) {
      return depend.contains(id) && !first.arrays_written.contains(id);
    });
  }

  /// What the first one writes, by an operation before the second one, where they would both be.
  bool is_read_between(ir::RegionId region, const Loop& first, const Loop& second) {
    if (!dependences_) find_dependences(region);
    return std::ranges::any_of(first.arrays_written, [&](ir::VarId array) {
      const auto readers = dependences_->readers.find(array);
      return readers != dependences_->readers.end() && std::ranges::any_of(readers->second, [&](std::size_t reader) {
               const ir::Op& op = ops(region)[reader];
               const bool is_gone = op.kind == OpKind::foreach_range && op.regions.empty();
               return reader > first.number && reader < second.number && !is_gone;
             });
    });
  }

  void find_dependences(ir::RegionId region) {
    dependences_.emplace();
    dependences_->read.resize(ops(region).size());
    dependences_->changed.resize(ops(region).size());
    for (std::size_t i = 0; i < ops(region).size(); ++i) note_dependences(region, i);
  }

  void note_dependences(ir::RegionId region, std::size_t number) {
    const ir::Op& op = ops(region)[number];
    dependences_->read[number] = variables_read(function_, op);
    dependences_->changed[number] = changed_by(op);
    for (const ir::VarId id : dependences_->read[number]) dependences_->readers[id].push_back(number);
  }

  bool can_fuse(ir::RegionId region, const Loop& first, const Loop& second) {
    const ir::Op &one = ops(region)[first.number], &other = ops(region)[second.number];
    return have_one_space(one, other) && reads_own_points(first, second) && is_free_of_the_second(one, first, second) &&
           needs_nothing_between(region, first, second) && (!is_in_order_ || !is_read_between(region, first, second)) &&
           ops(first.body).size() + ops(second.body).size() <= most_operations_of_loop;
  }

  /// Variables that an operation assigns, and arrays and bags that it writes.
  std::vector<ir::VarId> changed_by(const ir::Op& op) const {
    std::vector<ir::VarId> changed = variables_assigned(function_, op);
    visit_nested(function_, op, [&](const ir::Op& inner) {
      if (const ir::VarId written = written_by(inner); written != ir::none) changed.push_back(written);
    });
    return changed;
  }

  // ---- what is made of them

  /// The second loop gets the first one's body before its own.
  void fuse(ir::RegionId region, Loop& first, Loop& second) {
    const ir::RegionId from = first.body, to = second.body;
    for (std::size_t i = 0; i < function_.regions[from].parameters.size(); ++i)
      replacements_.add(function_.regions[from].parameters[i], Operand::variable(function_.regions[to].parameters[i]));
    // values instead of elements, in nested regions, too
    for (const ir::Op& insert : ops(from)) {
      if (insert.kind != OpKind::array_insert) continue;
      for (ir::Op& op : ops(to)) take_value(op, insert.operands[0].index, replacements_.of(insert.operands[2]));
    }
    std::vector<ir::Op> moved = std::move(ops(from));
    ops(from).clear();
    for (const ir::Op& op : moved)
      for (const ir::RegionId nested : op.regions) function_.regions[nested].parent = to;
    for (const ir::VarId id : function_.regions[from].variables) {
      function_.variables[id].region = to;
      function_.regions[to].variables.push_back(id);
    }
    function_.regions[from].variables.clear();
    ops(to).insert(ops(to).begin(), std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
    for (ir::Op& op : ops(to)) replace_in(op);  // the parameters of a body are known nowhere else
    ir::Op& gone = ops(region)[first.number];
    gone.regions.clear();  // fuse_in() removes it
    ops(region)[second.number].is_needed = true;
    note_dependences(region, first.number);
    note_dependences(region, second.number);
    second.arrays_written.insert(first.arrays_written.begin(), first.arrays_written.end());
    first = {};
  }

  void replace_in(ir::Op& op) {
    replacements_.apply(op);
    for (const ir::RegionId region : op.regions)
      for (ir::Op& inner : ops(region)) replace_in(inner);
  }

  void take_value(ir::Op& op, ir::VarId array, Operand value) {
    for (const ir::RegionId region : op.regions)
      for (ir::Op& inner : ops(region)) take_value(inner, array, value);
    if (op.kind != OpKind::array_get || op.operands[0] != Operand::variable(array)) return;
    op.kind = OpKind::copy;
    op.operands = {value};
    op.is_tracked = false;
  }

  // ---- arrays that nothing reads

  /// Arrays of which nothing is left but that fused loops write them, and that all elements are there.
  void drop_temporaries() {
    find_makers();
    const std::vector<std::uint32_t> reads = count_reads(function_);
    std::vector<std::uint32_t> known(function_.variables.size(), 0);
    Variables made;
    for (const ir::Region& region : function_.regions) {
      for (const ir::Op& op : region.ops) {
        if (op.kind == OpKind::array_new) made.insert(op.results[0]);
        if (is_builtin(op, "@complete")) ++known[op.operands[0].index];
        if (op.kind == OpKind::struct_make && reads[op.results[0]] == 0)
          for (const Operand field : op.operands)
            if (!field.is_constant) ++known[field.index];
        if (op.kind != OpKind::foreach_range || !op.is_needed) continue;
        for (const ir::Op& inner : ops(op.regions[0]))
          if (inner.kind == OpKind::array_insert && fills(op, inner.operands[0].index))
            ++known[inner.operands[0].index];
      }
    }
    std::erase_if(made, [&](ir::VarId id) { return reads[id] != known[id]; });
    for (ir::Region& region : function_.regions) {
      std::erase_if(region.ops, [&](const ir::Op& op) {
        const bool is_use = op.kind == OpKind::array_insert || is_builtin(op, "@complete") ||
                            (op.kind == OpKind::struct_make && reads[op.results[0]] == 0);
        return is_use && !op.operands[0].is_constant && made.contains(op.operands[0].index);
      });
    }
  }

  /// All elements that the array is to have are written by the loop: else it is an error that some are missing.
  bool fills(const ir::Op& loop, ir::VarId array) const {
    const ir::Op* const made = makers_[array];
    if (!made || made->kind != OpKind::array_new) return false;
    if (made->operands.empty()) return true;  // it has as many as there are
    const std::optional<std::int64_t> low = number(loop.operands[0]);
    if (low != 0 || loop.operands[1].is_constant) return false;
    const ir::Op* const last = makers_[loop.operands[1].index];
    if (!last || last->operands.size() != 2) return false;
    const std::optional<std::int64_t> offset = number(last->operands[1]);
    const bool is_one_less =
        (last->kind == OpKind::index_add && offset == -1) || (last->kind == OpKind::sub && offset == 1);
    return is_one_less && is_product(last->operands[0], made->operands);
  }

  bool is_product(Operand count, std::span<const Operand> extents) const {
    if (extents.size() == 1) return is_extent(extents[0], count);
    const ir::Op* const product = count.is_constant ? nullptr : makers_[count.index];
    return product && product->kind == OpKind::mul && is_extent(extents.back(), product->operands[1]) &&
           is_product(product->operands[0], extents.first(extents.size() - 1));
  }

  bool is_extent(Operand extent, Operand count) const {
    if (extent == count) return true;
    const ir::Op* const op = extent.is_constant ? nullptr : makers_[extent.index];
    return op && is_builtin(*op, "@extent") && op->operands[1] == count;
  }

  std::optional<std::int64_t> number(Operand operand) const {
    if (!operand.is_constant) return std::nullopt;
    const auto* const found = std::get_if<std::int64_t>(&module_.constants[operand.index]);
    return found ? std::optional(*found) : std::nullopt;
  }

  void find_makers() {
    const std::vector<std::uint32_t> assignments = count_assignments(function_);
    makers_.assign(function_.variables.size(), nullptr);
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region)
      for (const ir::Op& op : ops(region))
        for (const ir::VarId id : op.results)
          if (assignments[id] == 1 && function_.variables[id].region == region) makers_[id] = &op;
  }

  ir::Module& module_;
  ir::Function& function_;
  bool is_in_order_ = false;
  std::set<ir::RegionId> kept_;             // bodies of loops that are not fused
  Replacements replacements_;               // of parameters of bodies
  std::optional<Dependences> dependences_;  // of the region at hand; found when they are needed first
  std::vector<const ir::Op*> makers_;       // by variable what assigns it in its region; null: none, or several
};

}  // namespace

void fuse_loops(ir::Module& module, ir::Function& function) { Fuser(module, function).run_in_order(); }

void fuse_loops(ir::Module& module) {
  bool has_changed = false;
  for (ir::Function& function : module.functions)
    if (function.kind == ir::FunctionKind::composite) has_changed |= Fuser(module, function).run();
  if (!has_changed) return;
  remove_dead_code(module);
  order_operations(module);
}

}  // namespace raddle::opt
