#include "compiler/ir/verify_launches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/affine_keys.hpp"
#include "compiler/ir/body_accesses.hpp"
#include "compiler/ir/nest_values.hpp"

namespace raddle::ir {
namespace {

class LaunchChecker {
 public:
  LaunchChecker(const Module& module, const Function& function, const Op& op)
      : module_(module), function_(function), op_(op), types_(*module.types) {}

  std::string run() {
    if (op_.launch != none) launch(function_.launches[op_.launch]);
    if (op_.nest != none) nest(function_.nests[op_.nest]);
    if (op_.kernel != none) loop_kernel(function_.kernels[op_.kernel]);
    return problem_;
  }

 private:
  bool require(bool condition, const char* text) {
    if (!condition && problem_.empty()) problem_ = text;
    return condition;
  }

  void launch(const IndexLaunch& launch) {
    accesses(launch);
    const bool has_rows = std::ranges::find(launch.accesses, AccessMode::row, &Access::mode) != launch.accesses.end();
    require(!has_rows || !launch.is_projected(), "points that write rows write all else by their number");
    if (!problem_.empty()) return;
    std::vector<TypeId> inputs, values;
    for (const Access& access : launch.accesses)
      (access.mode == AccessMode::read ? inputs : values).push_back(value_type(access));
    leaf(launch.kernel, inputs, launch.captures, values);
    if (launch.projection != none)
      leaf(launch.projection, {}, launch.projected, std::vector<TypeId>(computed_, TypeStore::int_));
  }

  void nest(const LaunchNest& nest) {
    const Op* inner = launch_within(function_, op_);
    if (!require(op_.launch == none && inner && inner->launch == nest.launch, "a nest is around its launch")) return;
    if (!require(nest.values == nest_values(function_, op_, *inner), "a nest computes what its launch takes")) return;
    std::vector<TypeId> values;
    for (const VarId value : nest.values) values.push_back(types_.base(function_.variables[value].type));
    leaf(nest.prelude, {}, nest.captures, values);
  }

  void loop_kernel(const LoopKernel& kernel) {
    if (!require(!op_.test_after, "an `iterate` has no kernel")) return;
    std::size_t found = 0;
    inserts(op_.regions[1], /*is_sometimes=*/false, kernel, found);
    require(found == kernel.sinks.size(), "the loop's body has another number of sinks");
    if (!problem_.empty()) return;
    std::vector<TypeId> inputs, keys, outputs;
    for (const VarId variable : function_.regions[op_.regions[0]].parameters)
      inputs.push_back(types_.base(function_.variables[variable].type));
    outputs = inputs;
    outputs.push_back(TypeStore::int_);
    std::vector<TypeId> expected{TypeStore::int_};
    expected.insert(expected.end(), inputs.begin(), inputs.end());
    for (const Operand capture : kernel.captures) expected.push_back(base_type(capture));
    for (const LoopSink& sink : kernel.sinks) {
      if (sink.history == 0) continue;
      expected.push_back(TypeStore::int_);
      outputs.push_back(TypeStore::int_);
    }
    if (!require(kernel.kernel < module_.functions.size(), "no function to run as a loop")) return;
    const Function& leaf = module_.functions[kernel.kernel];
    require(leaf.kind == FunctionKind::launched, "a launched leaf is needed");
    require(outputs.size() + 2 * kernel.sinks.size() == leaf.outputs.size(), "a loop's kernel has other outputs");
    if (!problem_.empty()) return;
    const auto rows = leaf.outputs.begin() + static_cast<std::ptrdiff_t>(outputs.size());
    same(leaf, leaf.parameters, expected, "a loop's kernel has other parameters");
    same(leaf, {leaf.outputs.begin(), rows}, outputs, "a loop's kernel has other outputs");
    for (std::size_t i = 0; i < kernel.sinks.size(); ++i) {
      const TypeId key_row = types_.base(leaf.variables[rows[2 * static_cast<std::ptrdiff_t>(i)]].type);
      const TypeId value_row = types_.base(leaf.variables[rows[2 * static_cast<std::ptrdiff_t>(i) + 1]].type);
      require(types_.is_array(key_row) && types_.base(types_.at(key_row).element) == TypeStore::int_, "rows of keys");
      require(value_row == base_type(kernel.sinks[i].array), "rows of what is inserted");
    }
  }

  /// Those of the loop's body are the kernel's sinks, in its order.
  void inserts(RegionId region, bool is_sometimes, const LoopKernel& kernel, std::size_t& found) {
    for (const Op& op : function_.regions[region].ops) {
      const bool branches = op.kind == OpKind::if_ || op.kind == OpKind::switch_;
      if (branches || op.kind == OpKind::wait || op.kind == OpKind::wait_deep)
        for (const RegionId nested : op.regions) inserts(nested, is_sometimes || branches, kernel, found);
      if (op.kind != OpKind::array_insert) continue;
      const LoopSink* const sink = found < kernel.sinks.size() ? &kernel.sinks[found++] : nullptr;
      if (!require(sink && sink->array == op.operands[0] && sink->is_sometimes == is_sometimes,
                   "a sink is not that of the body"))
        return;
      require(sink->history == 0 || !is_sometimes, "a sink with a history is not always written");
    }
  }

  TypeId base_type(Operand operand) const { return types_.base(type_of(module_, function_, operand)); }

  /// Those of the loop's body, in its order. Without a projection what is read is no access of the launch; with one,
  /// what keys depend on is none, and comes out of an array among the captures.
  void accesses(const IndexLaunch& launch) {
    const bool has_rows = std::ranges::find(launch.accesses, AccessMode::row, &Access::mode) != launch.accesses.end();
    const BodyAccesses body =
        body_accesses(module_, function_, op_, has_rows ? RowsBy::loops_and_operations : RowsBy::loops);
    std::size_t found = 0;
    for (const BodyAccess& read : body.reads) {
      const std::uint32_t computed = computed_;
      if (!launch.is_projected() || (found < launch.accesses.size() && is_of_body(launch.accesses[found], read))) {
        found += launch.is_projected() ? 1 : 0;
        continue;
      }
      computed_ = computed;
      const auto is_captured = [&](const std::vector<Operand>& captures) {
        return std::ranges::find(captures, read.array) != captures.end();
      };
      if (is_captured(launch.captures) || is_captured(launch.projected)) continue;
      problem_ = fmt::format("access {} is not that of the body", found);
      return;
    }
    if (!require(found + body.writes.size() == launch.accesses.size(),
                 "the loop's body has another number of accesses"))
      return;
    for (const BodyAccess& write : body.writes) {
      if (!is_of_body(launch.accesses[found], write))
        problem_ = fmt::format("access {} is not that of the body", found);
      if (!problem_.empty()) return;
      ++found;
    }
    require((computed_ != 0) == (launch.projection != none), "a projection computes keys");
  }

  bool is_of_body(const Access& access, const BodyAccess& body) {
    if (access.mode != body.mode || access.data != body.array || access.keys.size() != body.keys.size()) return false;
    for (std::size_t i = 0; i < access.keys.size(); ++i)
      if (!is_of_body(access.keys[i], body.keys[i])) return false;
    return true;
  }

  bool is_of_body(const Key& key, Operand in_body) {
    switch (key.kind) {
      case Key::Kind::point: return in_body == point() || is_affine(key, in_body);
      case Key::Kind::same: return in_body == key.operand || is_affine(key, in_body);
      case Key::Kind::affine: return is_affine(key, in_body);
      case Key::Kind::computed: return key.result == computed_++;
    }
    return false;
  }

  bool is_affine(const Key& key, Operand in_body) const {
    return op_.kind == OpKind::foreach_range && affine_key(module_, function_, op_, in_body) == key;
  }

  /// The loop's variable; over an array its key.
  Operand point() const {
    const std::vector<VarId>& parameters = function_.regions[op_.regions[0]].parameters;
    const std::size_t which = op_.kind == OpKind::foreach_array ? 1 : 0;
    return which < parameters.size() ? Operand::variable(parameters[which]) : Operand{};
  }

  TypeId value_type(const Access& access) const {
    if (access.mode == AccessMode::row) return types_.base(type_of(module_, function_, access.data));
    if (!is_element(access.mode)) return TypeStore::float_;
    TypeId type = types_.base(type_of(module_, function_, access.data));
    for (std::size_t i = 0; i < access.keys.size(); ++i) type = types_.base(types_.at(type).element);
    return type;
  }

  /// @param inputs  types of the parameters between the point and the captures
  void leaf(FunctionId id, const std::vector<TypeId>& inputs, const std::vector<Operand>& captures,
            const std::vector<TypeId>& outputs) {
    if (!require(id < module_.functions.size(), "no function to launch")) return;
    const Function& leaf = module_.functions[id];
    if (!require(leaf.kind == FunctionKind::launched, "a launched leaf is needed")) return;
    std::vector<TypeId> expected{TypeStore::int_};
    expected.insert(expected.end(), inputs.begin(), inputs.end());
    for (const Operand capture : captures) expected.push_back(types_.base(type_of(module_, function_, capture)));
    same(leaf, leaf.parameters, expected, "a launched leaf has other parameters");
    same(leaf, leaf.outputs, outputs, "a launched leaf has other outputs");
  }

  void same(const Function& leaf, const std::vector<VarId>& found, const std::vector<TypeId>& expected,
            const char* text) {
    const auto type = [&](VarId id) { return types_.base(leaf.variables[id].type); };
    require(std::ranges::equal(found, expected, {}, type), text);
  }

  const Module& module_;
  const Function& function_;
  const Op& op_;
  const TypeStore& types_;
  std::uint32_t computed_ = 0;  ///< keys so far that the projection computes
  std::string problem_;
};

}  // namespace

std::string check_launch(const Module& module, const Function& function, const Op& op) {
  return LaunchChecker(module, function, op).run();
}

}  // namespace raddle::ir
