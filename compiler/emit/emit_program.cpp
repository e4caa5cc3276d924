#include "compiler/emit/emit_program.hpp"

#include <algorithm>

#include "compiler/emit/emit_function.hpp"
#include "compiler/emit/function_plan.hpp"
#include "compiler/emit/partition_strands.hpp"

namespace raddle {

namespace {

vm::Value value_of(const ir::Constant& constant) {
  return std::visit([](const auto& value) { return vm::Value::of(value); }, constant);
}

vm::LeafType leaf_type(const TypeStore& types, TypeId id) {
  const TypeId base = types.base(id);
  const bool is_array = types.is_array(base);
  const TypeKind kind = types.kind(is_array ? types.base(types.at(base).element) : base);
  if (kind == TypeKind::float_) return is_array ? vm::LeafType::float_array : vm::LeafType::float_;
  if (kind == TypeKind::boolean) return is_array ? vm::LeafType::boolean_array : vm::LeafType::boolean;
  return is_array ? vm::LeafType::int_array : vm::LeafType::int_;
}

/// Leaves with a loop, with recursion, or that call such: a call may take long.
class HeavyLeaves {
 public:
  explicit HeavyLeaves(const ir::Module& module) : module_(module), states_(module.functions.size(), State::unknown) {}

  bool is_heavy(ir::FunctionId id) {
    State& state = states_[id];
    if (state == State::open) return true;  // recursion
    if (state == State::unknown) {
      state = State::open;
      const bool heavy = std::ranges::any_of(module_.functions[id].regions, [this](const ir::Region& region) {
        return std::ranges::any_of(region.ops, [this](const ir::Op& op) {
          return op.kind == ir::OpKind::loop || (op.kind == ir::OpKind::call && is_heavy(op.callee));
        });
      });
      states_[id] = heavy ? State::heavy : State::light;
    }
    return states_[id] == State::heavy;
  }

 private:
  enum class State : std::uint8_t { unknown, open, light, heavy };
  const ir::Module& module_;
  std::vector<State> states_;
};

void describe_leaf(const ir::Module& module, const ir::Function& function, vm::Function& out) {
  for (const ir::VarId id : function.parameters) {
    out.leaf_parameters.push_back(leaf_type(*module.types, function.variables[id].type));
  }
  for (const ir::VarId id : function.outputs) {
    out.leaf_results.push_back(leaf_type(*module.types, function.variables[id].type));
  }
}

}  // namespace

vm::Program emit_program(const ir::Module& module) {
  vm::Program program;
  program.entry = module.entry;
  for (const ir::Constant& constant : module.constants) program.constants.push_back(value_of(constant));
  HeavyLeaves heavy(module);
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
    const ir::Function& function = module.functions[id];
    vm::Function out;
    out.name = function.name;
    out.parameter_count = static_cast<std::uint32_t>(function.parameters.size());
    out.output_count = static_cast<std::uint32_t>(function.outputs.size());
    out.is_leaf = function.kind == ir::FunctionKind::leaf;
    out.place = {function.span.file, function.span.begin, function.span.end};
    if (out.is_leaf) {
      out.is_heavy = heavy.is_heavy(id);
      describe_leaf(module, function, out);
    }
    program.functions.push_back(std::move(out));
    emit::FunctionPlan plan = emit::plan_function(module, function);
    emit::partition_strands(plan);
    const vm::BodyId body = emit::emit_function(plan, id, program);
    program.functions[id].body = body;
  }
  return program;
}

}  // namespace raddle
