#include "compiler/opt/bodies/explicit_streams.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/opt/rewrite/uses.hpp"
#include "stdlib/builtin_names.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::opt {

namespace {

using ir::Operand;
using ir::OpKind;

/// What can be made of a seed and a stream. Four of them give these themselves: by their names streams are told apart.
constexpr std::array drawn = {"random",         "randint",         "random_normal", "random_exponential",
                              "random_floats_", "random_normals_", "random_ints_",  "stream_"};

const stdlib::Builtin* builtin_of(const ir::Op& op) {
  return op.kind == OpKind::call_builtin ? &stdlib::builtins()[op.callee] : nullptr;
}

bool draws(const stdlib::Builtin& builtin) { return builtin.effect == stdlib::BuiltinEffect::draws; }

/// Which functions draw, and which of them can do so by streams that they are given.
class DrawingFunctions {
 public:
  explicit DrawingFunctions(const ir::Module& module)
      : module_(module), draws_(module.functions.size(), false), is_explicit_(module.functions.size(), false) {
    for (const ir::Function& function : module.functions) parameter_counts_.push_back(function.parameters.size());
    spread(draws_, false, [&](const ir::Function& function) {
      return any_op(function, [&](const ir::Op& op) { return draws_here(op); });
    });
    is_explicit_ = draws_;
    spread(is_explicit_, true, [&](const ir::Function& function) {
      return &function != &module.functions[module.entry] && function.kind == ir::FunctionKind::composite &&
             !any_op(function, [&](const ir::Op& op) { return !may_be_explicit(function, op); });
    });
  }

  bool is_explicit(ir::FunctionId id) const { return is_explicit_[id]; }

  /// Without regions in it, and with a stream that it has to be given.
  bool draws_here(const ir::Op& op) const {
    if (const stdlib::Builtin* const builtin = builtin_of(op)) return draws(*builtin);
    return op.kind == OpKind::call && draws_[op.callee] && op.operands.size() == parameter_counts_[op.callee];
  }
  bool draws_inside(const ir::Function& function, const ir::Op& op) const {
    return any_nested(function, op, [&](const ir::Op& inner) { return draws_here(inner); });
  }
  /// It, and all that is in it.
  bool is_explicit(const ir::Function& function, const ir::Op& op) const {
    return !any_nested(function, op, [&](const ir::Op& inner) { return !may_be_explicit(function, inner); });
  }

 private:
  /// Repeats `holds` for functions of which something else is known, until nothing changes.
  template <typename Holds>
  void spread(std::vector<bool>& known, bool from, const Holds& holds) {
    for (bool changed = true; changed;) {
      changed = false;
      for (ir::FunctionId id = 0; id < module_.functions.size(); ++id) {
        if (known[id] != from || holds(module_.functions[id]) == from) continue;
        known[id] = !from;
        changed = true;
      }
    }
  }
  template <typename Is>
  static bool any_op(const ir::Function& function, const Is& is) {
    return std::ranges::any_of(function.regions,
                               [&](const ir::Region& region) { return std::ranges::any_of(region.ops, is); });
  }
  template <typename Is>
  static bool any_nested(const ir::Function& function, const ir::Op& op, const Is& is) {
    bool found = false;
    visit_nested(function, op, [&](const ir::Op& inner) { found |= is(inner); });
    return found;
  }

  bool may_be_explicit(const ir::Function& function, const ir::Op& op) const {
    if (const stdlib::Builtin* const builtin = builtin_of(op)) {
      if (draws(*builtin)) return std::ranges::find(drawn, builtin->name) != drawn.end();
      return stdlib::is_pure(builtin->effect) || builtin->effect == stdlib::BuiltinEffect::asserts;
    }
    switch (op.kind) {
      case OpKind::call: return !draws_[op.callee] || is_explicit_[op.callee];
      case OpKind::foreach_array: {
        const TypeId over = module_.types->base(ir::type_of(module_, function, op.operands[0]));
        return module_.types->is_array(over) && module_.types->base(module_.types->at(over).key) == TypeStore::int_;
      }
      case OpKind::foreach_range:
      case OpKind::loop:
      case OpKind::if_:
      case OpKind::switch_:
      case OpKind::wait: return true;
      default: return ir::info(op.kind).effect != ir::Effect::acts;
    }
  }

  const ir::Module& module_;
  std::vector<bool> draws_, is_explicit_;
  std::vector<std::size_t> parameter_counts_;  ///< before there are streams
};

bool is_loop(const ir::Op& op) {
  return op.kind == OpKind::foreach_range || op.kind == OpKind::foreach_array || op.kind == OpKind::loop;
}

struct Stream {
  Operand seed, stream;
};

ir::VarId add_variable(ir::Function& function, ir::Var variable) {
  function.variables.push_back(std::move(variable));
  return static_cast<ir::VarId>(function.variables.size() - 1);
}

class StreamMaker {
 public:
  StreamMaker(ir::Module& module, const DrawingFunctions& known, ir::Function& function)
      : module_(module), known_(known), function_(function) {}

  void run(std::optional<Stream> streams) {
    rewrite(0, [&] { return streams; });
  }

 private:
  using Operands = std::vector<Operand>;

  // ---------------------------------------------------------------- operations that are made

  Operand number(std::int64_t value) { return Operand::constant(module_.constant(value)); }
  Operand number(double value) { return Operand::constant(module_.constant(value)); }
  ir::VarId declare(TypeId type, Span span) {
    const ir::VarId id = add_variable(function_, {"", type, span, region_});
    function_.regions[region_].variables.push_back(id);
    return id;
  }
  void add(OpKind kind, Operands operands, std::vector<ir::VarId> results, Span span) {
    ir::Op& op = ops_.emplace_back();
    op.kind = kind;
    op.operands = std::move(operands);
    op.results = std::move(results);
    op.span = span;
  }
  Operand make(OpKind kind, Operands operands, TypeId type, Span span) {
    const ir::VarId result = declare(type, span);
    add(kind, std::move(operands), {result}, span);
    return Operand::variable(result);
  }
  Operand call(std::string_view builtin, Operands operands, TypeId type, Span span) {
    const Operand result = make(OpKind::call_builtin, std::move(operands), type, span);
    ops_.back().callee = stdlib::find_builtin(builtin).value();
    return result;
  }
  Operand mixed(Operand stream, Operand with, Span span) {
    return call("mix_stream_", {stream, with}, TypeStore::int_, span);
  }
  Stream of_op(const Stream& around, const ir::Op& op) {
    return {around.seed, mixed(around.stream, number(static_cast<std::int64_t>(op.stream)), op.span)};
  }
  /// The same, taken from the frame.
  Stream of_op(const ir::Op& op) {
    const ir::VarId seed = declare(TypeStore::int_, op.span), stream = declare(TypeStore::int_, op.span);
    add(OpKind::call_builtin, {}, {seed, stream}, op.span);
    ops_.back().callee = stdlib::find_builtin("stream_").value();
    ops_.back().stream = op.stream;
    return {Operand::variable(seed), Operand::variable(stream)};
  }

  // ---------------------------------------------------------------- regions

  /// @param begin  puts what the region begins with, and gives its streams; none: those of the frame
  template <typename Begin>
  void rewrite(ir::RegionId region, const Begin& begin) {
    const ir::RegionId around = std::exchange(region_, region);
    std::vector<ir::Op> ops_around = std::exchange(ops_, {});
    const std::optional<Stream> streams = begin();
    for (ir::Op& op : std::exchange(function_.regions[region].ops, {}))
      streams ? put(std::move(op), *streams) : put(std::move(op));
    function_.regions[region].ops = std::exchange(ops_, std::move(ops_around));
    region_ = around;
  }

  void put_with_regions(ir::Op op, const std::optional<Stream>& streams) {
    for (const ir::RegionId region : op.regions) rewrite(region, [&] { return streams; });
    ops_.push_back(std::move(op));
  }

  static void give(ir::Op& call, const Stream& streams) {
    call.operands.push_back(streams.seed);
    call.operands.push_back(streams.stream);
  }

  void put(ir::Op op) {
    if (is_loop(op) && known_.draws_inside(function_, op) && known_.is_explicit(function_, op)) {
      const Stream streams = of_op(op);
      return put_loop(std::move(op), streams);
    }
    if (op.kind == OpKind::call) {
      const std::size_t wanted = module_.functions[op.callee].parameters.size();
      if (op.operands.size() < wanted) give(op, of_op(op));
      op.operands.resize(wanted);  // of a script that keeps to its frames the loop over points has given too many
    }
    put_with_regions(std::move(op), std::nullopt);
  }

  void put(ir::Op op, const Stream& streams) {
    if (known_.draws_here(op)) {
      const Stream own = of_op(streams, op);
      if (op.kind == OpKind::call_builtin) return draw(op, own);
      give(op, own);
    } else if (is_loop(op) && known_.draws_inside(function_, op)) {
      const Stream own = of_op(streams, op);
      return put_loop(std::move(op), own);
    }
    put_with_regions(std::move(op), streams);
  }

  /// @param streams  of the loop
  void put_loop(ir::Op op, const Stream& streams) {
    if (op.kind == OpKind::loop) {
      const ir::VarId variable = add_variable(function_, {"", TypeStore::int_, op.span, op.regions[0]});
      function_.regions[op.regions[0]].parameters.push_back(variable);
      op.operands.push_back(streams.stream);
      if (!op.results.empty()) op.results.push_back(declare(TypeStore::int_, op.span));
      const Stream own{streams.seed, Operand::variable(variable)};
      rewrite(op.regions[0], [&] { return std::optional(own); });
      rewrite(op.regions[1], [&] {
        op.nexts.push_back(mixed(own.stream, number(std::int64_t{1}), op.span));
        return std::optional(own);
      });
    } else {
      rewrite(op.regions[0], [&] {
        return std::optional(Stream{streams.seed, mixed(streams.stream, iteration_of(op), op.span)});
      });
    }
    ops_.push_back(std::move(op));
  }

  /// What tells an iteration's stream apart: see told_apart_by() in vm/launch/ranges.cpp. Of ranges it is computed from
  /// the loop's variable where that is sure to give it: no loop that counts its iterations besides is an index launch.
  Operand iteration_of(const ir::Op& loop) {
    const std::vector<ir::VarId>& parameters = function_.regions[loop.regions[0]].parameters;
    const Operand value = Operand::variable(parameters[0]), count = Operand::variable(parameters[1]);
    if (loop.kind == OpKind::foreach_array) return count;
    const std::int64_t* const low = known(loop.operands[0]);
    const std::int64_t* const step = known(loop.operands[2]);
    const bool is_one_apart = step != nullptr && *step == 1;
    if (!is_one_apart && (low == nullptr || *low < 0 || step == nullptr)) return count;
    const bool is_from_zero = low != nullptr && *low == 0;
    const Operand distance =
        is_from_zero ? value : call("distance_", {value, loop.operands[0]}, TypeStore::int_, loop.span);
    return is_one_apart ? distance : make(OpKind::idiv, {distance, loop.operands[2]}, TypeStore::int_, loop.span);
  }
  const std::int64_t* known(Operand operand) const {
    return operand.is_constant ? std::get_if<std::int64_t>(&module_.constants[operand.index]) : nullptr;
  }

  // ---------------------------------------------------------------- what is drawn

  Operand unit(const Stream& streams, std::int64_t index, Span span) {
    return call("random_unit_", {streams.seed, streams.stream, number(index)}, TypeStore::float_, span);
  }
  /// The logarithm of the number `index`, which is not 0.
  Operand log_of_unit(const Stream& streams, std::int64_t index, Span span) {
    const Operand rest = make(OpKind::sub, {number(1.0), unit(streams, index, span)}, TypeStore::float_, span);
    return call("log", {rest}, TypeStore::float_, span);
  }

  /// As in stdlib/numbers/random.cpp, in the same order.
  void draw(const ir::Op& op, const Stream& streams) {
    const std::string_view name = builtin_of(op)->name;
    const TypeId number_type = TypeStore::float_;
    const auto product = [&](Operand a, Operand b) { return make(OpKind::mul, {a, b}, number_type, op.span); };
    if (name == "random") {
      add(OpKind::copy, {unit(streams, 0, op.span)}, op.results, op.span);
    } else if (name == "randint") {
      const Operand count = call("random_range_", op.operands, TypeStore::int_, op.span);
      const Operand distance = call("random_below_", {streams.seed, streams.stream, count}, TypeStore::int_, op.span);
      add(OpKind::call_builtin, {op.operands[0], distance}, op.results, op.span);
      ops_.back().callee = stdlib::find_builtin("random_from_").value();
    } else if (name == "random_normal") {
      const Operand deviation = call("random_deviation_", {op.operands[1]}, number_type, op.span);
      const Operand squared = product(number(-2.0), log_of_unit(streams, 0, op.span));
      const Operand radius = call("sqrt", {squared}, number_type, op.span);
      const Operand angle = product(number(2 * std::numbers::pi), unit(streams, 1, op.span));
      const Operand cosine = call("cos", {angle}, number_type, op.span);
      add(OpKind::add, {op.operands[0], product(product(deviation, radius), cosine)}, op.results, op.span);
    } else if (name == "random_exponential") {
      const Operand mean = call("random_mean_", {op.operands[0]}, number_type, op.span);
      const Operand negative = make(OpKind::neg, {mean}, number_type, op.span);
      add(OpKind::mul, {negative, log_of_unit(streams, 0, op.span)}, op.results, op.span);
    } else {  // the stream itself
      add(OpKind::copy, {streams.seed}, {op.results[0]}, op.span);
      add(OpKind::copy, {streams.stream}, {op.results[1]}, op.span);
    }
  }

  ir::Module& module_;
  const DrawingFunctions& known_;
  ir::Function& function_;
  ir::RegionId region_ = 0;
  std::vector<ir::Op> ops_;  ///< of the region, as they are made
};

}  // namespace

void make_streams_explicit(ir::Module& module) {
  const DrawingFunctions known(module);  // as they are before this changes them
  std::vector<std::optional<Stream>> streams(module.functions.size());
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id) {
    if (!known.is_explicit(id)) continue;
    ir::Function& function = module.functions[id];
    const auto parameter = [&] {
      function.parameters.push_back(add_variable(function, {"", TypeStore::int_, function.span, 0}));
      return Operand::variable(function.parameters.back());
    };
    const Operand seed = parameter();
    streams[id] = Stream{seed, parameter()};
  }
  for (ir::FunctionId id = 0; id < module.functions.size(); ++id)
    StreamMaker(module, known, module.functions[id]).run(streams[id]);
}

}  // namespace raddle::opt
