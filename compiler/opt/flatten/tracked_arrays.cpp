#include "compiler/opt/flatten/tracked_arrays.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtin_names.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// A variable, or nothing, and a number.
struct Affine {
  ir::VarId base = ir::none;
  std::int64_t offset = 0;
  bool operator==(const Affine&) const = default;
  Affine operator+(std::int64_t number) const { return {base, offset + number}; }
};

struct Insert {
  ir::RegionId region = ir::none;
  Affine key;
};

/// Elements from `first` to `last`, by one insert.
struct Part {
  Affine first, last;
  Operand loop_last = {};  ///< of the loop around, which begins with 0; index none: there is none
};

class Simplifier {
 public:
  Simplifier(ir::Module& module, ir::Function& function) : module_(module), function_(function) {
    for (ir::RegionId id = 0; id < function.regions.size(); ++id)
      for (const ir::Op& op : function.regions[id].ops) note(id, op);
  }

  void run() {
    for (const auto& [array, made_in] : made_in_) {
      if (prove_parts(array)) continue;
      const ir::FillOrder order = order_of(array);
      for (ir::Op& op : function_.regions[made_in].ops)
        if (op.kind == OpKind::array_new && op.results[0] == array) op.fill_order = order;
    }
  }

 private:
  void note(ir::RegionId region, const ir::Op& op) {
    for (const ir::VarId result : op.results) makers_[result] = op;
    if (op.kind == OpKind::array_new && op.is_tracked && op.fill_order == ir::FillOrder::any)
      made_in_[op.results[0]] = region;
    if (op.kind == OpKind::loop)
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        steps_[function_.regions[op.regions[0]].parameters[i]] = {op.operands[i], op.nexts[i]};
    if (op.kind == OpKind::foreach_range) loops_[op.regions[0]] = {region, op.operands[1]};
  }

  /// Of an int.
  Affine affine(Operand operand) const {
    if (operand.is_constant) return {ir::none, std::get<std::int64_t>(module_.constants[operand.index])};
    const auto made = makers_.find(operand.index);
    if (made == makers_.end()) return {operand.index, 0};
    const ir::Op& op = made->second;
    if (op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == "@index")
      return affine(op.operands[0]);
    const bool adds = op.kind == OpKind::index_add || op.kind == OpKind::add;
    if (!adds && op.kind != OpKind::sub) return {operand.index, 0};
    const Affine one = affine(op.operands[0]), other = affine(op.operands[1]);
    if (other.base == ir::none) return one + (adds ? other.offset : -other.offset);
    if (adds && one.base == ir::none) return other + one.offset;
    return {operand.index, 0};
  }

  std::vector<Insert> inserts_into(ir::VarId array) const {
    std::vector<Insert> found;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (const ir::Op& op : function_.regions[id].ops)
        if (op.kind == OpKind::array_insert && op.operands[0] == Operand::variable(array))
          found.push_back({id, affine(op.operands[1])});
    return found;
  }

  /// A loop of BodyBuilder::complete(): over all elements. Of a slice, as `a[0:i-1]`, there may be one like it.
  bool completes(const ir::Op& op, ir::VarId array) const {
    if (op.kind != OpKind::foreach_range || function_.regions[op.regions[0]].ops.size() != 1 ||
        affine(op.operands[1]) + 1 != affine(makers_.at(array).operands[0]))
      return false;
    const ir::Region& body = function_.regions[op.regions[0]];
    return body.ops[0].kind == OpKind::array_get && body.ops[0].is_tracked &&
           body.ops[0].operands[0] == Operand::variable(array) &&
           body.ops[0].operands[1] == Operand::variable(body.parameters[0]);
  }

  // ---------------------------------------------------------------- parts

  std::optional<Part> part_of(const Insert& insert, ir::RegionId made_in) const {
    if (insert.region == made_in) return Part{insert.key, insert.key};
    const auto loop = loops_.find(insert.region);
    const ir::VarId point =
        function_.regions[insert.region].parameters.empty() ? ir::none : function_.regions[insert.region].parameters[0];
    if (loop == loops_.end() || loop->second.around != made_in || point == ir::none) return std::nullopt;
    const Affine last = affine(loop->second.last);
    if (insert.key.base != point || (last.base == ir::none && last.offset < -1)) return std::nullopt;
    return Part{{ir::none, insert.key.offset}, last + insert.key.offset, loop->second.last};
  }

  bool prove_parts(ir::VarId array) {
    const ir::RegionId made_in = made_in_.at(array);
    if (is_read_in_parts(array)) return false;
    std::vector<Part> parts;
    for (const Insert& insert : inserts_into(array)) {
      const std::optional<Part> part = part_of(insert, made_in);
      if (!part) return false;
      parts.push_back(*part);
    }
    Affine next;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto found = std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end(),
                                      [&](const Part& part) { return part.first == next; });
      if (found == parts.end()) return false;
      next = found->last + 1;
      std::iter_swap(parts.begin() + static_cast<std::ptrdiff_t>(i), found);
    }
    if (next != affine(makers_.at(array).operands[0])) return false;
    make_plain(array, parts);
    return true;
  }

  /// Elsewhere than behind all of them.
  bool is_read_in_parts(ir::VarId array) const {
    std::size_t reads = 0, in_completing = 0;
    for (const ir::Region& region : function_.regions)
      for (const ir::Op& op : region.ops)
        if (op.kind == OpKind::array_get && op.is_tracked && op.operands[0] == Operand::variable(array)) ++reads;
    for (const ir::Op& op : function_.regions[made_in_.at(array)].ops) {
      if (inserted_into(function_, op).contains(array)) in_completing = 0;  // what stood before is not behind all
      if (completes(op, array)) ++in_completing;
    }
    return reads != in_completing;
  }

  void make_plain(ir::VarId array, const std::vector<Part>& parts) {
    for (ir::Region& region : function_.regions) {
      for (ir::Op& op : region.ops) {
        const bool is_it = (op.kind == OpKind::array_new && op.results[0] == array) ||
                           (op.kind == OpKind::array_insert && op.operands[0] == Operand::variable(array));
        if (is_it) op.is_tracked = false;
      }
    }
    std::vector<ir::Op>& ops = function_.regions[made_in_.at(array)].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (!completes(ops[i], array)) continue;
      const Span span = ops[i].span;
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i));
      for (const Part& part : parts)
        if (part.loop_last.index != ir::none && !part.loop_last.is_constant)
          ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i++), expect_not_below_empty(part, array, span));
      --i;
    }
  }

  /// A loop from 0 to less than -1 has no points, as one to -1; but the next part does not follow it.
  ir::Op expect_not_below_empty(const Part& part, ir::VarId array, Span span) {
    const ir::RegionId region = made_in_.at(array);
    ir::Op op;
    op.kind = OpKind::call_builtin;
    op.callee = stdlib::find_builtin("assertLTE").value();
    op.operands = {Operand::constant(module_.constant(std::int64_t{-1})), part.loop_last,
                   Operand::constant(module_.constant(std::string()))};
    op.operand_types = {TypeStore::int_, TypeStore::int_, TypeStore::string};
    op.results = {static_cast<ir::VarId>(function_.variables.size())};
    op.span = span;
    function_.regions[region].variables.push_back(op.results[0]);
    function_.variables.push_back({"", TypeStore::void_, span, region});
    return op;
  }

  // ---------------------------------------------------------------- order

  ir::FillOrder order_of(ir::VarId array) const {
    const Affine size = affine(makers_.at(array).operands[0]);
    std::vector<Insert> inserts = inserts_into(array);
    const ir::RegionId made_in = made_in_.at(array);
    std::int64_t singles = 0;
    std::optional<Affine> in_loop;
    for (const Insert& insert : inserts) {
      if (insert.region == made_in && !in_loop)
        ++singles;
      else if (!in_loop || *in_loop == insert.key)
        in_loop = insert.key;
      else
        return ir::FillOrder::any;
    }
    const auto step = in_loop ? steps_.find(in_loop->base) : steps_.end();
    if (step == steps_.end()) return ir::FillOrder::any;
    const Affine first = affine(step->second.initial) + in_loop->offset, next = affine(step->second.next);
    const auto are_singles = [&](const Affine& start, std::int64_t by) {
      for (std::int64_t i = 0; i < singles; ++i)
        if (inserts[static_cast<std::size_t>(i)].key != start + i * by) return false;
      return first == start + singles * by && next == Affine{in_loop->base, by};
    };
    if (are_singles({}, 1)) return ir::FillOrder::up;
    return are_singles(size + -1, -1) ? ir::FillOrder::down : ir::FillOrder::any;
  }

  struct Step {
    Operand initial, next;
  };
  struct Loop {
    ir::RegionId around = ir::none;
    Operand last;
  };
  ir::Module& module_;
  ir::Function& function_;
  std::map<ir::VarId, ir::Op> makers_;
  std::map<ir::VarId, ir::RegionId> made_in_;  // of tracked arrays
  std::map<ir::VarId, Step> steps_;            // of variables of loops in order
  std::map<ir::RegionId, Loop> loops_;         // by body
};

}  // namespace

void simplify_tracked_arrays(ir::Module& module, ir::Function& function) { Simplifier(module, function).run(); }

}  // namespace raddle::opt
