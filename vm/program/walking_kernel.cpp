#include "vm/program/walking_kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace raddle::vm {

namespace {

/// So no key that is that of an element can overflow on the way to it, in whatever order a script computes it.
bool is_small(const LaunchKey& key) {
  constexpr std::int64_t stride_limit = std::int64_t{1} << 19, offset_limit = std::int64_t{1} << 59;
  return std::abs(key.stride) < stride_limit && std::abs(key.offset) < offset_limit;
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

class Walk {
 public:
  Walk(const Program& program, const ForeachSite& site)
      : program_(program), site_(site), first_(out_.add_parameter(KernelType::int_)) {}

  WalkingKernel made(bool walks_nest) {
    const IndexLaunch& launch = site_.launch;
    point_ = walks_nest ? walk_nest() : first_;
    if (launch.projection != no_id) projected_ = call(launch.projection, point_, {}, launch.projected);
    const Function& leaf = program_.functions[launch.leaf];
    std::vector<Register> elements;
    for (std::size_t i = 0; i < launch.reads.size(); ++i) {
      const KernelType type = leaf.leaf_parameters[i + 1];
      const Register array = variable(launch.reads[i].array, array_of(type));
      elements.push_back(out_.compute(get_of(type), type, {array, key(launch.keys[launch.reads[i].first_key])}));
    }
    const std::vector<Register> results = call(launch.leaf, point_, elements, launch.captures);
    return {out_.made(leaf.name, leaf.place, results), arguments_};
  }

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
  Register number(Kind kind, std::uint32_t index = 0) {
    return argument({.kind = kind, .variable = {}, .index = index}, KernelType::int_);
  }
  Register input(const LaunchInput& what, KernelType type) {
    if (what.value == no_id) return variable(what.operand, type);
    return values_.empty() ? argument({.kind = Kind::value, .variable = {}, .index = what.value}, type)
                           : values_[what.value];
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
    if (key.stride != 0) {  // points that follow each other read elements that do, which loads of lanes see from here
      const Register scaled =
          key.stride == 1 ? point_ : out_.compute(KernelOp::mul_int, {point_, out_.constant(key.stride)});
      sum = key.offset == 0 ? scaled : out_.compute(KernelOp::add_int, {scaled, sum});
    }
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
    const Register iteration = out_.compute(KernelOp::add_int, {number(Kind::first_iteration), row});
    std::vector<LaunchInput> captures;
    for (const Operand capture : site_.nest.captures) captures.push_back({capture});
    const Register outer = affine(number(Kind::outer_low), number(Kind::outer_step), iteration);
    values_ = call(site_.nest.prelude, outer, {}, captures);
    point_ = affine(number(Kind::inner_low), number(Kind::inner_step), column);
    const std::vector<Register> counts = counts_of_loops(iteration);
    const auto sinks = static_cast<std::uint32_t>(site_.launch.sinks.size());
    for (std::uint32_t sink = 0; sink < sinks; ++sink) {
      Register expected = out_.compute(KernelOp::add_int, {number(Kind::first_key, sink), column});
      for (std::uint32_t loop = 0; loop < counts.size(); ++loop)
        expected = affine(expected, number(Kind::row_stride, loop * sinks + sink), counts[loop]);
      out_.compute(KernelOp::same_extent, {key(site_.launch.keys[site_.launch.sinks[sink].first_key]), expected});
    }
    return point_;
  }

  /// In which iteration each of the outer loops is.
  std::vector<Register> counts_of_loops(Register iteration) {
    std::vector<Register> counts;
    for (std::uint32_t loop = 0; loop + 1 < site_.collapsed.size(); ++loop) {
      const Register each = number(Kind::outer_each, loop);
      counts.push_back(out_.compute(KernelOp::idiv, {iteration, each}));
      iteration = out_.compute(KernelOp::sub_int, {iteration, out_.compute(KernelOp::mul_int, {counts.back(), each})});
    }
    counts.push_back(iteration);
    return counts;
  }

  const Program& program_;
  const ForeachSite& site_;
  KernelBuilder out_;
  const Register first_;
  Register point_ = {};
  std::vector<Register> values_;     ///< of the prelude; none: they are arguments
  std::vector<Register> projected_;  ///< keys
  std::vector<KernelArgument> arguments_;
  std::vector<Register> known_;  ///< by argument
};

}  // namespace

WalkingKernel walking_kernel(const Program& program, const ForeachSite& site, bool walks_nest) {
  return Walk(program, site).made(walks_nest);
}

std::string obstacle_of_walking(const ForeachSite& site) {
  const IndexLaunch& launch = site.launch;
  const auto is_in_rows = [](const auto& element) { return element.key_count > 1; };
  const auto has_rows = [](const LaunchSink& sink) { return !sink.row_keys.empty(); };
  if (std::ranges::any_of(launch.reads, is_in_rows) || std::ranges::any_of(launch.sinks, is_in_rows) ||
      (site.is_nest() && std::ranges::any_of(launch.sinks, has_rows)))
    return "its points read or write elements of arrays in arrays";
  for (const LaunchSink& sink : launch.sinks) {
    if (sink.kind == LaunchSink::Kind::row) return "its points write rows";
    if (site.is_nest() && (sink.kind != LaunchSink::Kind::element || sink.key_count == 0))
      return "its points add up what they compute";
    if (sink.key_count != 0 && (!launch.keys[sink.first_key].is_affine() || launch.keys[sink.first_key].stride != 1))
      return "its points write elements that do not follow each other";
  }
  if (!std::ranges::all_of(launch.keys, is_small)) return "its points read or write elements that lie far apart";
  return "";
}

}  // namespace raddle::vm
