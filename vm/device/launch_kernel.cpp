#include "vm/device/launch_kernel.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace raddle::vm {

namespace {

KernelType array_of(KernelType element) {
  return static_cast<KernelType>(static_cast<std::uint8_t>(element) + static_cast<std::uint8_t>(KernelType::ints));
}

KernelOp element_op(KernelType element) {
  if (element == KernelType::int_) return KernelOp::get_int;
  return element == KernelType::float_ ? KernelOp::get_float : KernelOp::get_boolean;
}

/// A kernel without branches. How many parameters and constants there are is known at the end: until then registers are
/// counted apart.
class KernelBuilder {
 public:
  struct Register {
    enum Kind : std::uint8_t { parameter, constant, computed } kind;
    std::uint32_t number;
  };

  Register add_parameter(KernelType type) {
    parameters_.push_back(type);
    return {Register::parameter, static_cast<std::uint32_t>(parameters_.size() - 1)};
  }
  Register constant(std::int64_t number) {
    const auto found = std::ranges::find(constants_, number);
    const auto index = static_cast<std::uint32_t>(found - constants_.begin());
    if (found == constants_.end()) constants_.push_back(number);
    return {Register::constant, index};
  }
  Register compute(KernelOp op, KernelType type, std::initializer_list<Register> inputs) {
    const Register result = add_computed(type);
    steps_.push_back({op, no_kernel_part, inputs, {result}});
    return result;
  }
  Register compute(KernelOp op, std::initializer_list<Register> inputs) {
    return compute(op, KernelType::int_, inputs);
  }
  std::vector<Register> call(KernelId kernel, const std::vector<KernelType>& types, std::vector<Register> inputs) {
    std::vector<Register> results;
    for (const KernelType type : types) results.push_back(add_computed(type));
    steps_.push_back({KernelOp::call, kernel, std::move(inputs), results});
    return results;
  }

  Kernel made(const std::string& name, Place place, const std::vector<Register>& outputs) const {
    Kernel kernel;
    kernel.name = name;
    kernel.place = place;
    kernel.types = parameters_;
    kernel.types.insert(kernel.types.end(), constants_.size(), KernelType::int_);
    kernel.types.insert(kernel.types.end(), computed_.begin(), computed_.end());
    kernel.parameter_count = static_cast<std::uint32_t>(parameters_.size());
    kernel.constants = constants_;
    kernel.outputs = numbers_of(outputs);
    std::vector<KernelInstruction>& body = kernel.blocks.emplace_back();
    for (const Step& step : steps_) {
      KernelInstruction instruction;
      instruction.op = step.op;
      instruction.place = place;
      if (step.op == KernelOp::call) {
        instruction.index = static_cast<std::uint32_t>(kernel.calls.size());
        kernel.calls.push_back({step.callee, numbers_of(step.inputs), numbers_of(step.results)});
      } else {
        instruction.result = number_of(step.results[0]);
        for (std::size_t i = 0; i < step.inputs.size(); ++i) instruction.inputs[i] = number_of(step.inputs[i]);
      }
      body.push_back(instruction);
    }
    return kernel;
  }

 private:
  struct Step {
    KernelOp op;
    KernelId callee;
    std::vector<Register> inputs, results;
  };

  Register add_computed(KernelType type) {
    computed_.push_back(type);
    return {Register::computed, static_cast<std::uint32_t>(computed_.size() - 1)};
  }
  KernelRegister number_of(Register id) const {
    const std::size_t before = id.kind == Register::parameter  ? 0
                               : id.kind == Register::constant ? parameters_.size()
                                                               : parameters_.size() + constants_.size();
    return static_cast<KernelRegister>(before + id.number);
  }
  std::vector<KernelRegister> numbers_of(const std::vector<Register>& ids) const {
    std::vector<KernelRegister> numbers;
    for (const Register id : ids) numbers.push_back(number_of(id));
    return numbers;
  }

  std::vector<KernelType> parameters_, computed_;
  std::vector<std::int64_t> constants_;
  std::vector<Step> steps_;
};

/// Note [walking kernels].
class WalkingKernel {
 public:
  WalkingKernel(const Program& program, const ForeachSite& site)
      : program_(program), site_(site), first_(out_.add_parameter(KernelType::int_)) {}

  Kernel made() {
    const IndexLaunch& launch = site_.launch;
    point_ = site_.is_nest() ? walk_nest() : first_;
    if (launch.projection != no_id) projected_ = call(launch.projection, point_, {}, launch.projected);
    const Function& leaf = program_.functions[launch.leaf];
    std::vector<Register> elements;
    for (std::size_t i = 0; i < launch.reads.size(); ++i) {
      const KernelType type = leaf.leaf_parameters[i + 1];
      const Register array = variable(launch.reads[i].array, array_of(type));
      elements.push_back(out_.compute(element_op(type), type, {array, key(launch.keys[launch.reads[i].first_key])}));
    }
    const std::vector<Register> results = call(launch.leaf, point_, elements, launch.captures);
    return out_.made(leaf.name, leaf.place, results);
  }
  std::vector<KernelArgument> arguments() const { return arguments_; }

 private:
  using Register = KernelBuilder::Register;
  using Kind = KernelArgument::Kind;

  Register argument(KernelArgument what, KernelType type) {
    const auto found = std::ranges::find(arguments_, what);
    if (found != arguments_.end()) return known_[static_cast<std::size_t>(found - arguments_.begin())];
    arguments_.push_back(what);
    return known_.emplace_back(out_.add_parameter(type));
  }
  Register variable(Operand variable, KernelType type) {
    return argument({.kind = Kind::variable, .variable = variable}, type);
  }
  Register number(Kind kind, std::uint32_t sink = 0) {
    return argument({.kind = kind, .variable = {}, .sink = sink}, KernelType::int_);
  }
  Register input(const LaunchInput& what, KernelType type) {
    return what.value == no_id ? variable(what.operand, type) : values_[what.value];
  }

  /// @param captured  the last inputs: those before it are the point and `elements`
  std::vector<Register> call(FunctionId id, Register point, const std::vector<Register>& elements,
                             const std::vector<LaunchInput>& captured) {
    const Function& function = program_.functions[id];
    std::vector<Register> inputs = {point};
    inputs.insert(inputs.end(), elements.begin(), elements.end());
    for (const LaunchInput& capture : captured)
      inputs.push_back(input(capture, function.leaf_parameters[inputs.size()]));
    return out_.call(id, function.leaf_results, std::move(inputs));
  }

  Register key(const LaunchKey& key) {
    if (!key.is_affine()) return projected_[key.result];
    Register sum = out_.constant(key.offset);
    if (key.stride != 0)
      sum =
          out_.compute(KernelOp::add_int, {out_.compute(KernelOp::mul_int, {point_, out_.constant(key.stride)}), sum});
    const bool has_base = key.base.value != no_id || !key.base.operand.is_absent();
    return has_base ? out_.compute(KernelOp::add_int, {input(key.base, KernelType::int_), sum}) : sum;
  }

  /// @return the inner loop's variable
  Register walk_nest() {
    const Register count = number(Kind::inner_count);
    const Register row = out_.compute(KernelOp::idiv, {first_, count});
    const Register column = out_.compute(KernelOp::sub_int, {first_, out_.compute(KernelOp::mul_int, {row, count})});
    const auto affine = [&](Register low, Register step, Register times) {
      return out_.compute(KernelOp::add_int, {low, out_.compute(KernelOp::mul_int, {step, times})});
    };
    const Register outer = affine(number(Kind::outer_low), number(Kind::outer_step), row);
    std::vector<LaunchInput> captures;
    for (const Operand capture : site_.nest.captures) captures.push_back({capture});
    values_ = call(site_.nest.prelude, outer, {}, captures);
    point_ = affine(number(Kind::inner_low), number(Kind::inner_step), column);
    for (std::uint32_t sink = 0; sink < site_.launch.sinks.size(); ++sink) {
      const Register in_row = out_.compute(KernelOp::add_int, {number(Kind::first_key, sink), column});
      const Register expected = affine(in_row, number(Kind::row_stride, sink), row);
      out_.compute(KernelOp::same_extent, {key(site_.launch.keys[site_.launch.sinks[sink].first_key]), expected});
    }
    return point_;
  }

  const Program& program_;
  const ForeachSite& site_;
  KernelBuilder out_;
  const Register first_;
  Register point_ = {};
  std::vector<Register> values_;     ///< of the prelude
  std::vector<Register> projected_;  ///< keys
  std::vector<KernelArgument> arguments_;
  std::vector<Register> known_;  ///< by argument
};

}  // namespace

LaunchKernel launch_kernel(const Program& program, const ForeachSite& site) {
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : program.kernels) kernels.push_back(&kernel);
  if (!walks(site)) {
    LaunchKernel own{.group = group_of(kernels, site.launch.leaf),
                     .entry = {KernelEntry::range, program.functions[site.launch.leaf].kernel_entry.reads},
                     .arguments = {}};
    for (const LaunchInput& capture : site.launch.captures)
      own.arguments.push_back({.kind = KernelArgument::Kind::variable, .variable = capture.operand});
    return own;
  }
  WalkingKernel walking(program, site);
  const Kernel kernel = walking.made();
  kernels.push_back(&kernel);
  return {.group = group_of(kernels, static_cast<KernelId>(kernels.size() - 1)),
          .entry = KernelEntry::range,
          .arguments = walking.arguments()};
}

}  // namespace raddle::vm
