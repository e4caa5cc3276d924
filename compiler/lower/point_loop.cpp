#include "compiler/lower/point_loop.hpp"

#include <algorithm>

#include "compiler/ir/writers.hpp"

namespace raddle {

namespace {

using ir::Operand;
using ir::OpKind;
using ir::VarId;

class PointLoop {
 public:
  PointLoop(ir::Module& module, const std::vector<bool>& varies, bool draws)
      : module_(module), entry_(module.functions[module.entry]), varies_(varies), draws_(draws) {
    loop_.name = "points";
    loop_.span = entry_.span;
    loop_.regions.resize(2);
    loop_.regions[body].parent = 0;
  }

  bool is_possible() const {
    const auto is_number = [&](VarId id) {
      const TypeId type = module_.types->base(entry_.variables[id].type);
      return type == TypeStore::int_ || type == TypeStore::float_ || type == TypeStore::boolean;
    };
    return !entry_.outputs.empty() && std::ranges::all_of(entry_.parameters, is_number) &&
           std::ranges::all_of(entry_.outputs, is_number);
  }

  ir::Function make() {
    const VarId count = parameter("count", TypeStore::int_);
    const VarId last = variable("", TypeStore::int_, 0);
    loop_.regions[0].variables.push_back(last);
    const VarId point = variable("point", TypeStore::int_, body), number = variable("", TypeStore::int_, body);
    loop_.regions[body].parameters = {point, number};
    ir::Op call = op(OpKind::call, {}, {});
    call.callee = module_.entry;
    for (std::size_t i = 0; i < entry_.parameters.size(); ++i) call.operands.push_back(argument(i, point));
    if (draws_) call.operands.insert(call.operands.end(), 2, element("seed", TypeStore::int_, point));
    std::vector<ir::Op> inserts;
    for (const VarId output : entry_.outputs) {
      const ir::Var& of_entry = entry_.variables[output];
      const VarId array = variable(of_entry.name, array_of(of_entry.type), 0);
      loop_.outputs.push_back(array);
      loop_.regions[0].ops.push_back(op(OpKind::array_new, {}, {array}));
      const VarId value = local(of_entry.type);
      call.results.push_back(value);
      inserts.push_back(
          op(OpKind::array_insert, {Operand::variable(array), Operand::variable(point), Operand::variable(value)}, {}));
    }
    std::vector<ir::Op>& ops = loop_.regions[body].ops;
    ops.push_back(std::move(call));
    std::ranges::move(inserts, std::back_inserter(ops));
    const Operand one = Operand::constant(module_.constant(std::int64_t{1}));
    loop_.regions[0].ops.push_back(op(OpKind::sub, {Operand::variable(count), one}, {last}));
    ir::Op range_loop = op(OpKind::foreach_range,
                           {Operand::constant(module_.constant(std::int64_t{0})), Operand::variable(last), one}, {});
    range_loop.regions = {body};
    loop_.regions[0].ops.push_back(std::move(range_loop));
    ir::count_writers(loop_);
    return std::move(loop_);
  }

 private:
  static constexpr ir::RegionId body = 1;

  TypeId array_of(TypeId element) const { return module_.types->array_of(TypeStore::int_, element); }

  VarId variable(const std::string& name, TypeId type, ir::RegionId region) {
    loop_.variables.push_back({name, type, entry_.span, region});
    return static_cast<VarId>(loop_.variables.size() - 1);
  }
  VarId parameter(const std::string& name, TypeId type) {
    loop_.parameters.push_back(variable(name, type, 0));
    return loop_.parameters.back();
  }
  VarId local(TypeId type) {
    loop_.regions[body].variables.push_back(variable("", type, body));
    return loop_.regions[body].variables.back();
  }
  ir::Op op(OpKind kind, std::vector<Operand> operands, std::vector<VarId> results) const {
    ir::Op made;
    made.kind = kind;
    made.operands = std::move(operands);
    made.results = std::move(results);
    made.span = entry_.span;
    return made;
  }

  /// What the entry's `index`-th parameter gets.
  Operand argument(std::size_t index, VarId point) {
    const ir::Var& of_entry = entry_.variables[entry_.parameters[index]];
    if (!varies_[index]) return Operand::variable(parameter(of_entry.name, of_entry.type));
    return element(of_entry.name, of_entry.type, point);
  }
  /// Of an array that is one more parameter.
  Operand element(const std::string& name, TypeId type, VarId point) {
    const VarId array = parameter(name, array_of(type)), value = local(type);
    loop_.regions[body].ops.push_back(
        op(OpKind::array_get, {Operand::variable(array), Operand::variable(point)}, {value}));
    return Operand::variable(value);
  }

  ir::Module& module_;
  const ir::Function& entry_;
  const std::vector<bool>& varies_;
  const bool draws_;
  ir::Function loop_;
};

}  // namespace

ir::FunctionId add_point_loop(ir::Module& module, const std::vector<bool>& varies, bool draws) {
  PointLoop loop(module, varies, draws);
  if (!loop.is_possible()) return ir::none;
  module.functions.push_back(loop.make());
  return static_cast<ir::FunctionId>(module.functions.size() - 1);
}

}  // namespace raddle
