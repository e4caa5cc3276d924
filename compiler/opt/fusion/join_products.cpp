#include "compiler/opt/fusion/join_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/opt/leaves/launchable.hpp"
#include "compiler/opt/rewrite/loop_shapes.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/rewrite/region_copier.hpp"
#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtin_names.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

constexpr std::string_view name_of_part = "product_of_part_", name_of_rows = "matmul_";

/// Operands of `matmul` of a matrix and a vector, as the library's function has them; then of a vector and a matrix.
enum OfRows : std::size_t { matrix, rows, columns, vector, vector_length };
enum OfVector : std::size_t { elements, element_count, other_matrix, other_rows, other_columns };

/// Makes operations in a region of a function, one after the other.
class Maker {
 public:
  Maker(ir::Module& module, ir::Function& function, ir::RegionId region, Span span)
      : module_(module), function_(function), region_(region), span_(span) {}

  Operand variable(TypeId type) {
    const auto id = static_cast<ir::VarId>(function_.variables.size());
    function_.variables.push_back({"", type, span_, region_});
    return Operand::variable(id);
  }
  Operand number(std::int64_t value) { return Operand::constant(module_.constant(value)); }
  ir::Op& add(OpKind kind, std::vector<Operand> operands) {
    ir::Op& op = ops_.emplace_back();
    op.kind = kind;
    op.operands = std::move(operands);
    op.span = span_;
    return op;
  }
  Operand result(OpKind kind, std::vector<Operand> operands, TypeId type) {
    const Operand made = variable(type);
    function_.regions[region_].variables.push_back(made.index);
    add(kind, std::move(operands)).results = {made.index};
    return made;
  }
  ir::Op& last() { return ops_.back(); }
  std::vector<ir::Op> take() { return std::move(ops_); }

 private:
  ir::Module& module_;
  ir::Function& function_;
  ir::RegionId region_;
  Span span_;
  std::vector<ir::Op> ops_;
};

/// What is found in a region: operations by their places.
struct Pattern {
  std::set<std::size_t> moved;  ///< all of it: what is between the two products, and these
  std::size_t by_column = 0, loop = 0, by_row = 0;
  ir::VarId products = ir::none;  ///< elements of the first product
  ir::VarId made = ir::none;      ///< elements that the loop computes
};

class Joiner {
 public:
  Joiner(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), shapes_(module, function) {}

  /// @return true: something has changed
  bool run() {
    bool has_changed = false;
    const std::size_t count = function_.regions.size();  // in those that are made for small matrices all stays
    for (ir::RegionId region = 0; region < count; ++region) {
      std::optional<Pattern> found;
      for (std::size_t i = 0; i < ops(region).size() && !found; ++i)
        if (is_product_by_column(ops(region)[i])) found = pattern_of(region, i);
      if (!found || !join(region, *found)) continue;
      has_changed = true;
      shapes_.forget();
    }
    return has_changed;
  }

 private:
  std::vector<ir::Op>& ops(ir::RegionId region) { return function_.regions[region].ops; }

  /// A function of the module arrays by its name, or one of its other forms.
  bool is_of_arrays(ir::FunctionId id, std::string_view name) const {
    const ir::Function& function = module_.functions[id];
    return (function.name == name || function.name.starts_with(fmt::format("{}.", name))) &&
           module_.sources->at(function.span.file).is_library_module("arrays");
  }
  bool has_ints(const ir::Op& call, std::initializer_list<std::size_t> ints) const {
    if (call.operands.size() != 5 || call.results.size() != 1) return false;
    for (std::size_t i = 0; i < 5; ++i) {
      const bool is_int = type_of(module_, function_, call.operands[i]) == TypeStore::int_;
      if (is_int != (std::ranges::find(ints, i) != ints.end())) return false;
    }
    return true;
  }
  bool is_product_by_column(const ir::Op& op) const {
    return op.kind == OpKind::call && is_of_arrays(op.callee, "matmul") && has_ints(op, {rows, columns, vector_length});
  }
  bool is_product_by_row(const ir::Op& op) const {
    return op.kind == OpKind::call && is_of_arrays(op.callee, "matmul") &&
           has_ints(op, {element_count, other_rows, other_columns});
  }

  /// Between the products there is one loop over all rows, which computes each element of its number of that product.
  std::optional<Pattern> pattern_of(ir::RegionId region, std::size_t first) {
    const std::vector<ir::Op>& all = ops(region);
    Pattern found{.moved = {first}, .by_column = first};
    std::set<ir::VarId> depend(all[first].results.begin(), all[first].results.end());
    std::set<ir::VarId> lengths = {all[first].operands[rows].index};
    bool has_loop = false, has_product = false;
    const auto reads_some = [&](const ir::Op& op) {
      return std::ranges::any_of(variables_read(function_, op), [&](ir::VarId id) { return depend.contains(id); });
    };
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const ir::Op& op = all[i];
        if (found.moved.contains(i) || !reads_some(op)) continue;
        if (op.kind == OpKind::struct_get && op.operands[0] == Operand::variable(all[first].results[0])) {
          if (op.number == 0)
            found.products = op.results[0];
          else
            lengths.insert(op.results[0]);
        } else if (op.kind == OpKind::foreach_range && !has_loop) {
          has_loop = true;
          found.loop = i;
          const ir::VarId written = array_filled_by(op);
          if (written == ir::none) return std::nullopt;
          found.made = written;
          depend.insert(written);
        } else if (is_product_by_row(op) && has_loop && !has_product) {
          has_product = true;
          found.by_row = i;
        } else if (op.kind != OpKind::index_add && op.kind != OpKind::array_new) {
          return std::nullopt;
        }
        found.moved.insert(i);
        if (!has_product || i != found.by_row) depend.insert(op.results.begin(), op.results.end());
        has_grown = true;
      }
    }
    if (!has_product || found.products == ir::none) return std::nullopt;
    const ir::Op* const array = shapes_.maker_of(Operand::variable(found.made));
    if (!array || array->kind != OpKind::array_new) return std::nullopt;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (&all[i] == array) found.moved.insert(i);
    for (const std::size_t i : found.moved)
      if (i != found.by_row && !std::ranges::all_of(all[i].results, [&](ir::VarId id) { return is_of(region, id); }))
        return std::nullopt;
    const auto is_length = [&](Operand count) { return !count.is_constant && lengths.contains(count.index); };
    const ir::Op &by_column = all[first], &by_row = all[found.by_row], &loop = all[found.loop];
    const bool fits = array->operands.size() == 1 && is_length(array->operands[0]) &&
                      is_length(by_row.operands[element_count]) &&
                      by_row.operands[elements] == Operand::variable(found.made) &&
                      by_row.operands[other_matrix] == by_column.operands[matrix] &&
                      by_row.operands[other_rows] == by_column.operands[rows] &&
                      by_row.operands[other_columns] == by_column.operands[columns] &&
                      shapes_.goes_over_rows(loop, point_of(loop), array->operands) &&
                      is_plain_launch(module_, function_, loop) && reads_own_products(loop, found.products);
    return fits ? std::optional(found) : std::nullopt;
  }

  /// It is seen in this region only.
  bool is_of(ir::RegionId region, ir::VarId id) const {
    return function_.variables[id].region == region &&
           std::ranges::find(function_.outputs, id) == function_.outputs.end();
  }

  Operand point_of(const ir::Op& loop) const {
    return Operand::variable(function_.regions[loop.regions[0]].parameters[0]);
  }

  /// The array that a loop fills with one element at its number; none: it does something else.
  ir::VarId array_filled_by(const ir::Op& loop) const {
    ir::VarId array = ir::none;
    std::size_t count = 0;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      if (&op == &loop || ir::info(op.kind).effect != ir::Effect::writes) return;
      ++count;
      if (op.kind == OpKind::array_insert && op.operands[1] == point_of(loop)) array = op.operands[0].index;
    });
    return count == 1 && loop.is_whole ? array : ir::none;
  }

  bool reads_own_products(const ir::Op& loop, ir::VarId products) const {
    bool is_own = true;
    visit_nested(function_, loop, [&](const ir::Op& op) {
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        if (op.operands[i] == Operand::variable(products))
          is_own = is_own && i == 0 && op.kind == OpKind::array_get && op.operands[1] == point_of(loop);
      is_own = is_own &&
               (op.kind != OpKind::call_builtin || stdlib::builtins()[op.callee].effect == stdlib::BuiltinEffect::pure);
    });
    const std::vector<ir::VarId> read = variables_read(function_, loop);
    return is_own && std::ranges::find(read, function_.regions[loop.regions[0]].parameters[1]) == read.end();
  }

  /// The function that a product of a vector and a large matrix calls, what that calls of the library for a part, and
  /// from how many elements on a matrix is large.
  struct Large {
    ir::FunctionId function = ir::none;
    std::uint32_t builtin = 0;
    Operand least_size;
  };
  Large large_product(ir::FunctionId product, std::string_view builtin) const {
    Large found;
    for (const ir::Region& region : module_.functions[product].regions) {
      for (const ir::Op& op : region.ops) {
        if (op.kind == OpKind::call && is_of_arrays(op.callee, "large_product_")) {
          for (const ir::Region& inner : module_.functions[op.callee].regions)
            for (const ir::Op& one : inner.ops)
              if (shapes_.is_builtin(one, builtin)) found.function = op.callee, found.builtin = one.callee;
        }
        if (op.kind == OpKind::lt && op.operands[1].is_constant) found.least_size = op.operands[1];
      }
    }
    return found;
  }

  bool join(ir::RegionId region, const Pattern& pattern) {
    const ir::Op by_column = ops(region)[pattern.by_column], by_row = ops(region)[pattern.by_row];
    const Large small = large_product(by_column.callee, name_of_rows),
                large = large_product(by_row.callee, name_of_part);
    if (small.function == ir::none || large.function == ir::none || !large.least_size.is_constant ||
        small.least_size != large.least_size)
      return false;
    std::vector<Operand> captures;
    const std::optional<ir::FunctionId> joined =
        joined_function(large.function, small.builtin, region, pattern, captures);
    if (!joined) return false;

    Maker maker(module_, function_, region, by_row.span);
    const Operand size =
        maker.result(OpKind::index_mul, {by_column.operands[rows], by_column.operands[columns]}, TypeStore::int_);
    const Operand is_small = maker.result(OpKind::lt, {size, large.least_size}, TypeStore::boolean);
    const Operand is_other =
        maker.result(OpKind::ne, {by_column.operands[vector_length], by_column.operands[columns]}, TypeStore::boolean);
    const Operand stays = maker.result(OpKind::or_, {is_small, is_other}, TypeStore::boolean);
    ir::Op& choice = maker.add(OpKind::if_, {stays});
    choice.regions = {new_region(region), new_region(region)};
    move_into(choice.regions[0], region, pattern);
    ir::Op call = by_row;
    call.callee = *joined;
    call.operands = {by_row.operands[other_rows], by_row.operands[other_matrix], by_row.operands[other_rows],
                     by_row.operands[other_columns], by_column.operands[vector]};
    call.operands.insert(call.operands.end(), captures.begin(), captures.end());
    ops(choice.regions[1]).push_back(std::move(call));
    for (ir::Op& op : maker.take()) ops(region).push_back(std::move(op));
    return true;
  }

  ir::RegionId new_region(ir::RegionId parent) {
    function_.regions.emplace_back().parent = parent;
    return static_cast<ir::RegionId>(function_.regions.size() - 1);
  }

  /// The operations as they are: for a matrix that is small.
  void move_into(ir::RegionId to, ir::RegionId from, const Pattern& pattern) {
    const std::vector<ir::VarId> given = ops(from)[pattern.by_row].results;
    std::vector<ir::Op> kept;
    for (std::size_t i = 0; i < ops(from).size(); ++i) {
      ir::Op& op = ops(from)[i];
      if (!pattern.moved.contains(i)) {
        kept.push_back(std::move(op));
        continue;
      }
      for (const ir::RegionId nested : op.regions) function_.regions[nested].parent = to;
      for (const ir::VarId id : op.results) {
        if (function_.variables[id].region != from || std::ranges::find(given, id) != given.end()) continue;
        function_.variables[id].region = to;
        std::erase(function_.regions[from].variables, id);
        function_.regions[to].variables.push_back(id);
      }
      ops(to).push_back(std::move(op));
    }
    ops(from) = std::move(kept);
  }

  /// The product of a vector and a large matrix, whose parts compute their elements of the vector first.
  /// @param of_part   the library's product of some rows and a vector
  /// @param captures  set: what its last parameters stand for
  std::optional<ir::FunctionId> joined_function(ir::FunctionId large, std::uint32_t of_part, ir::RegionId region,
                                                const Pattern& pattern, std::vector<Operand>& captures) {
    ir::Function made = module_.functions[large];
    const ir::VarId whole = made.parameters[0];
    ir::RegionId around = ir::none;
    std::size_t place = 0;
    for (ir::RegionId i = 0; i < made.regions.size(); ++i)
      for (std::size_t k = 0; k < made.regions[i].ops.size(); ++k)
        if (shapes_.is_builtin(made.regions[i].ops[k], name_of_part)) around = i, place = k;
    if (around == ir::none || count_reads(made)[whole] != 1) return std::nullopt;
    const ir::Op part = made.regions[around].ops[place];
    if (part.operands.size() != 6 || part.operands[0] != Operand::variable(whole)) return std::nullopt;

    made.name = fmt::format("{}.joined.{}", made.name, module_.functions.size());
    made.parameters.erase(made.parameters.begin());
    const auto parameter_like = [&](ir::VarId variable) {
      ir::Var copy = function_.variables[variable];
      copy.region = 0;
      made.variables.push_back(std::move(copy));
      made.parameters.push_back(static_cast<ir::VarId>(made.variables.size() - 1));
      return Operand::variable(made.parameters.back());
    };
    const Operand of_rows = ops(region)[pattern.by_column].operands[vector];
    if (of_rows.is_constant) return std::nullopt;
    const Operand by = parameter_like(of_rows.index);
    const ir::Op loop = ops(region)[pattern.loop];
    RegionCopier copier(function_, made);
    for (const ir::VarId read : variables_read(function_, loop)) {
      const bool is_inside = read == pattern.products || read == pattern.made || !is_from_around(read, loop);
      if (is_inside || std::ranges::find(loop.operands, Operand::variable(read)) != loop.operands.end()) continue;
      copier.set(read, parameter_like(read));
      captures.push_back(Operand::variable(read));
    }

    Maker maker(module_, made, around, loop.span);
    const Operand count = part.operands[5], first = part.operands[4];
    const TypeId matrices = type_of(module_, made, part.operands[1]), floats = type_of(module_, made, part.operands[0]);
    const Operand products =
        maker.result(OpKind::call_builtin,
                     {part.operands[1], by, part.operands[2], part.operands[3], maker.number(1), first, count}, floats);
    maker.last().callee = of_part;
    maker.last().operand_types = {matrices,        floats,          TypeStore::int_, TypeStore::int_,
                                  TypeStore::int_, TypeStore::int_, TypeStore::int_};
    const Operand elements_made = maker.result(OpKind::array_new, {count}, floats);
    maker.last().number = 1;
    const Operand last = maker.result(OpKind::index_add, {count, maker.number(-1)}, TypeStore::int_);

    const auto body = static_cast<ir::RegionId>(made.regions.size());
    made.regions.emplace_back().parent = around;
    Maker inside(module_, made, body, loop.span);
    const Operand point = inside.variable(TypeStore::int_), counter = inside.variable(TypeStore::int_);
    made.regions[body].parameters = {point.index, counter.index};
    const Operand row = inside.result(OpKind::index_add, {point, first}, TypeStore::int_);
    copier.set(point_of(loop).index, row);
    copier.set(pattern.products, products);
    copier.set(pattern.made, elements_made);
    std::vector<ir::Op> copied = copier.copy(loop.regions[0], body);
    made.regions[body].ops = inside.take();
    for (ir::Op& op : copied) made.regions[body].ops.push_back(std::move(op));
    ir::Op& over_rows = maker.add(OpKind::foreach_range, {maker.number(0), last, maker.number(1)});
    over_rows.regions = {body};
    over_rows.is_whole = true;
    over_rows.placement = loop.placement;
    const auto count_in_part = [&](ir::Op& op) {  // elements of the part lie from its beginning on
      const bool is_element = op.kind == OpKind::array_get || op.kind == OpKind::array_insert;
      if (is_element && (op.operands[0] == products || op.operands[0] == elements_made)) op.operands[1] = point;
    };
    for (ir::RegionId i = body; i < made.regions.size(); ++i) std::ranges::for_each(made.regions[i].ops, count_in_part);

    made.regions[around].ops[place].operands[0] = elements_made;
    std::vector<ir::Op> before = maker.take();
    std::vector<ir::Op>& to = made.regions[around].ops;
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(place), before.begin(), before.end());
    module_.functions.push_back(std::move(made));
    return static_cast<ir::FunctionId>(module_.functions.size() - 1);
  }

  /// Declared outside of the loop.
  bool is_from_around(ir::VarId variable, const ir::Op& loop) const {
    for (ir::RegionId region = function_.variables[variable].region; region != ir::none;
         region = function_.regions[region].parent)
      if (region == loop.regions[0]) return false;
    return true;
  }

  ir::Module& module_;
  ir::Function& function_;
  LoopShapes shapes_;
};

}  // namespace

void join_products(ir::Module& module) {
  bool has_changed = false;
  for (std::size_t i = 0, count = module.functions.size(); i < count; ++i)
    if (module.functions[i].kind == ir::FunctionKind::composite)
      has_changed |= Joiner(module, module.functions[i]).run();
  if (has_changed) order_operations(module);
}

}  // namespace raddle::opt
