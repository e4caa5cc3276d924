#include "compiler/emit/element_writers.hpp"

#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "compiler/emit/guarded_assignments.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::emit {

namespace {

using ir::OpKind;

class WriterCollector {
 public:
  explicit WriterCollector(const ir::Function& function) : function_(function) {
    for (const ir::Region& region : function.regions) {
      for (const ir::Op& op : region.ops) {
        for (const ir::RegionId inner : op.regions) around_[inner] = &op;
        for (const ir::VarId result : op.results) made_by_[result] = &op;
      }
    }
  }

  /// By array, at each place. Rows of an array count as others: which row it is, is known to none of their writers.
  std::map<ir::VarId, std::map<vm::Place, bool>> collect() const {
    std::map<ir::VarId, std::map<vm::Place, bool>> writers;
    for (ir::RegionId region = 0; region < function_.regions.size(); ++region) {
      for (const ir::Op& op : function_.regions[region].ops) {
        if (op.kind != OpKind::array_insert) continue;
        const auto writer = writers[op.operands[0].index].try_emplace(place_of(op.span), true).first;
        writer->second = writer->second && assigns_once(op, region);
      }
    }
    return writers;
  }

 private:
  /// No loop is around it, or one of a slice, whose keys are all different.
  bool assigns_once(const ir::Op& op, ir::RegionId region) const {
    const ir::RegionId home = function_.variables[op.operands[0].index].region;
    bool is_in_loop = false;
    for (; region != home; region = function_.regions[region].parent) {
      const auto found = around_.find(region);
      if (found == around_.end()) return false;
      const ir::Op& around = *found->second;
      if (around.kind == OpKind::loop || around.kind == OpKind::foreach_array) return false;
      if (around.kind != OpKind::foreach_range) continue;
      if (!around.is_whole) return false;
      is_in_loop = true;
    }
    return !is_in_loop || is_of_slice(op.operands[1]);
  }

  /// Made of loop variables and bounds, and not looked up.
  bool is_of_slice(ir::Operand key) const {
    if (key.is_constant) return true;
    const auto made = made_by_.find(key.index);
    if (made == made_by_.end()) return true;
    const ir::Op& op = *made->second;
    switch (op.kind) {
      case OpKind::copy:
      case OpKind::index_add:
      case OpKind::index_mul:
      case OpKind::add:
      case OpKind::sub:
      case OpKind::mul: break;
      case OpKind::struct_get: return true;  // an extent
      case OpKind::call_builtin: {
        const std::string_view name = stdlib::builtins()[op.callee].name;
        return name.starts_with('@') && (name != "@index" || is_of_slice(op.operands[0]));
      }
      default: return false;
    }
    for (const ir::Operand operand : op.operands)
      if (!is_of_slice(operand)) return false;
    return true;
  }

  const ir::Function& function_;
  std::unordered_map<ir::RegionId, const ir::Op*> around_;
  std::unordered_map<ir::VarId, const ir::Op*> made_by_;
};

}  // namespace

void add_element_writers(const ir::Function& function, vm::Program& program) {
  for (const auto& [array, places] : WriterCollector(function).collect()) {
    if (places.size() != 2) continue;
    const auto [first, is_once] = *places.begin();
    const auto [second, is_second_once] = *std::next(places.begin());
    program.element_writers[first] = program.element_writers[second] = {vm::ElementWriter{first, is_once},
                                                                        vm::ElementWriter{second, is_second_once}};
  }
}

}  // namespace raddle::emit
