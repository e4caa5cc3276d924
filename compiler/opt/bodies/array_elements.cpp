#include "compiler/opt/bodies/array_elements.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::OpKind;

/// By variable: the operations that read it.
std::vector<std::vector<OpPlace>> readers_of(const ir::Function& function) {
  std::vector<std::vector<OpPlace>> readers(function.variables.size());
  for (ir::RegionId region = 0; region < function.regions.size(); ++region)
    for (std::size_t i = 0; i < function.regions[region].ops.size(); ++i)
      visit_operands(function.regions[region].ops[i], [&](const ir::Operand& operand) {
        if (!operand.is_constant) readers[operand.index].push_back({region, i});
      });
  return readers;
}

bool is_completeness_check(const ir::Op& op) {
  return op.kind == OpKind::call_builtin && stdlib::builtins()[op.callee].name == "@complete";
}

/// Fills of one array.
class Filling {
 public:
  Filling(const KnownValues& known, const ir::Function& function, const std::vector<std::vector<OpPlace>>& readers)
      : known_(known), function_(function), readers_(readers) {}

  /// @param region  where the array is made  @return false: not each of its elements is assigned once, there
  bool find(ir::VarId array, std::int64_t count, ir::RegionId region) {
    elements.assign(static_cast<std::size_t>(count), {});
    operations.clear();
    for (const OpPlace& place : readers_[array]) {
      const ir::Op& op = function_.regions[place.region].ops[place.index];
      if (is_completeness_check(op) && readers_[op.results[0]].empty()) {
        operations.push_back(place);
        continue;
      }
      if (op.kind == OpKind::array_row || op.kind == OpKind::array_hold) return false;
      if (op.kind != OpKind::array_insert || op.operands[0].index != array) continue;
      const auto key = known_.number(op.operands[1]);
      if (place.region != region || !key || *key < 0 || *key >= count) return false;
      ir::Operand& element = elements[static_cast<std::size_t>(*key)];
      if (element.index != ir::none) return false;
      element = op.operands[2];
      operations.push_back(place);
    }
    return std::ranges::none_of(elements, [](const ir::Operand& element) { return element.index == ir::none; });
  }

  std::vector<ir::Operand> elements;
  std::vector<OpPlace> operations;  ///< that are not needed any more

 private:
  const KnownValues& known_;
  const ir::Function& function_;
  const std::vector<std::vector<OpPlace>>& readers_;
};

ir::Op operation(OpKind kind, std::vector<ir::Operand> operands, ir::VarId result, Span span) {
  ir::Op made;
  made.kind = kind;
  made.operands = std::move(operands);
  made.results = {result};
  made.span = span;
  return made;
}

/// Takes a loop apart.
class Carrier {
 public:
  Carrier(const KnownValues& known, ir::Module& module, ir::Function& function)
      : known_(known), module_(module), function_(function) {}

  bool run() {
    bool changed = false;
    for (ir::RegionId id = 0; id < function_.regions.size(); ++id)
      for (std::size_t i = 0; i < function_.regions[id].ops.size(); ++i)
        if (function_.regions[id].ops[i].kind == OpKind::loop) changed |= take_apart(id, i);
    return changed;
  }

 private:
  bool is_small(ir::VarId variable) const {
    if (!module_.types->is_dense(module_.types->base(function_.variables[variable].type))) return false;
    const auto count = known_.element_count(variable);
    return count && *count >= 1 && *count <= most_elements;
  }

  bool take_apart(ir::RegionId around, std::size_t index) {
    const std::vector<ir::VarId> carried =
        function_.regions[function_.regions[around].ops[index].regions[0]].parameters;
    if (std::ranges::none_of(carried, [this](ir::VarId variable) { return is_small(variable); })) return false;
    ir::Op loop = std::move(function_.regions[around].ops[index]);
    const ir::RegionId test = loop.regions[0], body = loop.regions[1];
    const std::vector<ir::Operand> before = std::exchange(loop.operands, {});
    const std::vector<ir::Operand> nexts = std::exchange(loop.nexts, {});
    const std::vector<ir::VarId> results = std::exchange(loop.results, {});
    function_.regions[test].parameters.clear();
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (!is_small(carried[i])) {
        function_.regions[test].parameters.push_back(carried[i]);
        loop.operands.push_back(before[i]);
        loop.nexts.push_back(nexts[i]);
        if (!results.empty()) loop.results.push_back(results[i]);
        continue;
      }
      const TypeId type = module_.types->base(function_.variables[carried[i]].type);
      const std::int64_t count = *known_.element_count(carried[i]);
      add_elements(before[i], type, count, around, loop.operands);
      add_elements(nexts[i], type, count, body, loop.nexts);
      std::vector<ir::Operand> inside, behind;
      for (std::int64_t k = 0; k < count; ++k) {
        const ir::VarId element = variable(module_.types->dense_element(type), carried[i], test);
        function_.regions[test].parameters.push_back(element);
        inside.push_back(ir::Operand::variable(element));
        if (results.empty()) continue;
        loop.results.push_back(declare(module_.types->dense_element(type), results[i], around));
        behind.push_back(ir::Operand::variable(loop.results.back()));
      }
      function_.regions[test].variables.push_back(carried[i]);
      make_whole(carried[i], type, std::move(inside), test);
      if (!results.empty()) make_whole(results[i], type, std::move(behind), around, carried[i]);
    }
    function_.regions[around].ops[index] = std::move(loop);
    return true;
  }

  ir::VarId variable(TypeId type, ir::VarId like, ir::RegionId region) {
    function_.variables.push_back({"", type, function_.variables[like].span, region});
    return static_cast<ir::VarId>(function_.variables.size() - 1);
  }
  ir::VarId declare(TypeId type, ir::VarId like, ir::RegionId region) {
    function_.regions[region].variables.push_back(variable(type, like, region));
    return function_.regions[region].variables.back();
  }
  void emit(ir::RegionId region, ir::Op op) { function_.regions[region].ops.push_back(std::move(op)); }

  /// Reads the elements of a dense array in a region.
  void add_elements(ir::Operand dense, TypeId type, std::int64_t count, ir::RegionId region,
                    std::vector<ir::Operand>& elements) {
    const Span span = function_.variables[dense.index].span;
    const ir::VarId array = declare(module_.types->dense_elements(type), dense.index, region);
    emit(region, operation(OpKind::struct_get, {dense}, array, span));
    for (std::int64_t k = 0; k < count; ++k) {
      const ir::VarId element = declare(module_.types->dense_element(type), dense.index, region);
      emit(region, operation(OpKind::array_get, {ir::Operand::variable(array), number(k)}, element, span));
      elements.push_back(ir::Operand::variable(element));
    }
  }

  /// @param of  a dense array of the same extents
  void make_whole(ir::VarId dense, TypeId type, std::vector<ir::Operand> elements, ir::RegionId region,
                  std::optional<ir::VarId> of = {}) {
    const Span span = function_.variables[dense].span;
    const ir::VarId array = declare(module_.types->dense_elements(type), dense, region);
    emit(region, operation(OpKind::array_list, std::move(elements), array, span));
    std::vector<ir::Operand> fields = {ir::Operand::variable(array)};
    const std::vector<std::int64_t> extents = *known_.extents(of.value_or(dense));
    for (const std::int64_t extent : extents) fields.push_back(number(extent));
    emit(region, operation(OpKind::struct_make, std::move(fields), dense, span));
  }

  ir::Operand number(std::int64_t value) { return ir::Operand::constant(module_.constant(value)); }

  const KnownValues& known_;
  ir::Module& module_;
  ir::Function& function_;
};

}  // namespace

std::optional<std::int64_t> small_count(const KnownValues& known, const ir::Op& array_new) {
  std::int64_t count = 1;
  if (array_new.operands.empty()) return std::nullopt;  // it grows
  for (const ir::Operand& operand : array_new.operands) {
    const auto extent = known.number(operand);
    if (!extent || *extent < 1 || *extent > most_elements) return std::nullopt;
    if (count *= *extent; count > most_elements) return std::nullopt;
  }
  return count;
}

bool list_elements(const KnownValues& known, ir::Function& function) {
  const std::vector<std::vector<OpPlace>> readers = readers_of(function);
  const std::vector<std::uint32_t> assignments = count_assignments(function);
  Filling filling(known, function, readers);
  std::vector<std::vector<bool>> dropped;
  for (const ir::Region& region : function.regions) dropped.emplace_back(region.ops.size(), false);
  bool changed = false;
  for (ir::RegionId id = 0; id < function.regions.size(); ++id) {
    for (ir::Op& op : function.regions[id].ops) {
      if (op.kind != OpKind::array_new) continue;
      const ir::VarId array = op.results[0];
      const auto count = small_count(known, op);
      if (!count || assignments[array] != 1 || !filling.find(array, *count, id)) continue;
      op.kind = OpKind::array_list;
      op.operands = filling.elements;
      op.number = 0;
      for (const OpPlace& place : filling.operations) dropped[place.region][place.index] = true;
      changed = true;
    }
  }
  for (ir::RegionId id = 0; id < function.regions.size(); ++id) {
    std::size_t index = 0;
    std::erase_if(function.regions[id].ops, [&](const ir::Op&) { return dropped[id][index++]; });
  }
  return changed;
}

bool carry_elements(const KnownValues& known, ir::Module& module, ir::Function& function) {
  return Carrier(known, module, function).run();
}

bool forward_elements(const ir::Module& module, ir::Function& function) {
  const std::vector<std::uint32_t> assignments = count_assignments(function);
  // what is made where it is declared, and nowhere else: whoever sees it sees what it is made of
  std::map<ir::VarId, std::vector<ir::Operand>> made;
  for (ir::RegionId id = 0; id < function.regions.size(); ++id)
    for (const ir::Op& op : function.regions[id].ops)
      if ((op.kind == OpKind::array_list || op.kind == OpKind::struct_make) && assignments[op.results[0]] == 1 &&
          function.variables[op.results[0]].region == id)
        made[op.results[0]] = op.operands;
  Replacements replacements(function);
  bool changed = false;
  for (ir::RegionId id = 0; id < function.regions.size(); ++id)
    for (ir::Op& op : function.regions[id].ops) {
      if (op.kind != OpKind::array_get && op.kind != OpKind::struct_get) continue;
      const auto found = made.find(op.operands[0].index);
      if (found == made.end()) continue;
      std::int64_t which = op.number;
      if (op.kind == OpKind::array_get) {
        if (!op.operands[1].is_constant) continue;
        const auto* const key = std::get_if<std::int64_t>(&module.constants[op.operands[1].index]);
        if (key == nullptr) continue;
        which = *key;
      }
      if (which < 0 || which >= static_cast<std::int64_t>(found->second.size())) continue;
      const ir::Operand element = found->second[static_cast<std::size_t>(which)];
      op.kind = OpKind::copy;
      op.operands = {element};
      op.number = 0;
      if (assignments[op.results[0]] == 1 && function.variables[op.results[0]].region == id)
        replacements.add(op.results[0], element);
      changed = true;
    }
  if (changed) replacements.apply(function);
  return changed;
}

}  // namespace raddle::opt
