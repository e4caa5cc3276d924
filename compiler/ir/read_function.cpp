#include "compiler/ir/read_function.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "compiler/ir/operand_reader.hpp"
#include "compiler/ir/print.hpp"
#include "stdlib/builtin_names.hpp"

namespace raddle::ir {
namespace {

using Kind = Token::Kind;

const std::unordered_map<std::string_view, OpKind>& op_kinds() {
  static const std::unordered_map<std::string_view, OpKind> kinds = {
#define RADDLE_IR_OP(name, text, effect, strict) {text, OpKind::name},
#include "compiler/ir/ops.def"
#undef RADDLE_IR_OP
  };
  return kinds;
}

class FunctionReader : OperandReader {
 public:
  FunctionReader(ModuleText& text, Function& function)
      : OperandReader(text, function), text_(text), function_(function) {}

  void run() {
    const std::string kind =
        text_.expect(Kind::word, "`composite`, `leaf`, `launched`, `outlined`, `app` or `foreign`");
    if (kind == "leaf")
      function_.kind = FunctionKind::leaf;
    else if (kind == "launched")
      function_.kind = FunctionKind::launched;
    else if (kind == "outlined")
      function_.kind = FunctionKind::outlined;
    else if (kind == "app")
      function_.kind = FunctionKind::app;
    else if (kind == "foreign")
      function_.kind = FunctionKind::foreign;
    else if (kind != "composite")
      text_.fail("unknown kind of function `" + kind + "`");
    if (text_.accept_word("files")) function_.file_output_count = static_cast<std::uint32_t>(text_.integer());
    function_.demands_leaf = text_.accept_word("demands_leaf");
    if (text_.accept_word("on_cpu")) function_.placement = vm::Placement::cpu;
    if (text_.accept_word("on_gpu")) function_.placement = vm::Placement::gpu;
    if (text_.accept_word("not_leaf")) function_.not_leaf_reason = text_.expect(Kind::string, "a reason");
    function_.regions.emplace_back();
    function_.parameters = declarations(0);
    if (!text_.accept(Kind::punctuation, "->")) text_.fail("expected `->`");
    function_.outputs = declarations(0);
    function_.span = text_.position();
    region(0);
    check_declared();
  }

 private:
  // --- regions and operations

  void region(RegionId id) {
    text_.expect('{');
    if (text_.is(Kind::punctuation, "(")) function_.regions[id].parameters = declarations(id);
    while (!text_.accept('}')) {
      if (text_.accept_word("var")) {
        const VarId variable = declare(text_.expect(Kind::variable, "a variable"), id);
        function_.variables[variable].span = text_.position();
        function_.regions[id].variables.push_back(variable);
      } else if (text_.accept_word("launch")) {
        launch();
      } else if (text_.accept_word("nest")) {
        nest();
      } else if (text_.accept_word("kernel")) {
        loop_kernel();
      } else if (text_.accept_word("command")) {
        command();
      } else if (text_.accept_word("code")) {
        foreign();
      } else {
        operation(id);
      }
    }
  }

  void launch() {
    IndexLaunch launch;
    launch.kernel = text_.function_named(text_.expect(Kind::function, "a kernel"));
    if (text_.accept_word("captures")) launch.captures = operand_list();
    if (text_.accept_word("projection"))
      launch.projection = text_.function_named(text_.expect(Kind::function, "a projection"));
    if (text_.accept_word("projected")) launch.projected = operand_list();
    while (std::optional<AccessMode> mode = access_mode()) launch.accesses.push_back(access(*mode));
    function_.launches.push_back(std::move(launch));
  }

  std::optional<AccessMode> access_mode() {
    for (std::size_t mode = 0; mode < std::size(access_modes); ++mode)
      if (text_.accept_word(access_modes[mode])) return static_cast<AccessMode>(mode);
    return std::nullopt;
  }

  Access access(AccessMode mode) {
    Access access{.mode = mode, .data = operand(), .keys = {}, .span = {}};
    if (text_.accept('[')) {
      do access.keys.push_back(key());
      while (text_.accept(','));
      text_.expect(']');
    }
    access.span = text_.position();
    return access;
  }

  Key key() {
    if (text_.accept('#')) return {.kind = Key::Kind::computed, .result = static_cast<std::uint32_t>(text_.integer())};
    Key key;
    const bool is_of_point = text_.accept_word("point");
    if (is_of_point)
      key.stride = text_.accept_word("times") ? text_.integer() : 1;
    else
      key.operand = operand();
    bool is_sum = key.stride != 1 && is_of_point;
    while (text_.accept_word("plus")) {
      is_sum = true;
      if (text_.peek().kind == Kind::variable)
        key.operand = operand();
      else
        key.offset = text_.integer();
    }
    key.kind = is_sum ? Key::Kind::affine : is_of_point ? Key::Kind::point : Key::Kind::same;
    if (key.kind == Key::Kind::point) key.stride = 0;
    return key;
  }

  void nest() {
    LaunchNest nest;
    nest.launch = static_cast<LaunchId>(text_.integer());
    nest.prelude = text_.function_named(text_.expect(Kind::function, "a prelude"));
    if (text_.accept_word("captures")) nest.captures = operand_list();
    if (!text_.accept_word("values")) text_.fail("expected `values`");
    do nest.values.push_back(mention(text_.expect(Kind::variable, "a variable")));
    while (text_.accept(','));
    function_.nests.push_back(std::move(nest));
  }

  void loop_kernel() {
    LoopKernel kernel;
    kernel.kernel = text_.function_named(text_.expect(Kind::function, "a kernel"));
    if (text_.accept_word("captures")) kernel.captures = operand_list();
    while (true) {
      const bool is_sometimes = text_.accept_word("sometimes");
      if (!is_sometimes && !text_.accept_word("always")) break;
      LoopSink sink{.array = operand(), .is_sometimes = is_sometimes, .span = {}};
      if (text_.accept_word("back")) {
        sink.history = text_.integer();
        if (!text_.accept_word("times")) text_.fail("expected `times`");
        sink.stride = text_.integer();
      }
      sink.span = text_.position();
      kernel.sinks.push_back(sink);
    }
    function_.kernels.push_back(std::move(kernel));
  }

  void command() {
    Command& command = function_.command;
    command.words = operand_list();
    if (text_.accept_word("stdin")) command.stdin_file = operand();
    if (text_.accept_word("stdout")) command.stdout_file = operand();
    if (text_.accept_word("stderr")) command.stderr_file = operand();
    for (std::size_t i = 0; i < app_limits.size(); ++i)
      if (text_.accept_word(app_limits[i].name)) command.limits[i] = operand();
  }

  void foreign() {
    Foreign& foreign = function_.foreign;
    foreign.kind = static_cast<ForeignKind>(text_.integer());
    foreign.library = text_.expect(Kind::string, "a library");
    foreign.version = text_.expect(Kind::string, "a version");
    foreign.code = text_.expect(Kind::string, "code");
    std::istringstream outputs(text_.expect(Kind::string, "names of outputs"));
    for (std::string name; outputs >> name;) foreign.outputs.push_back(name);
    foreign.varargs = text_.expect(Kind::string, "a name of inputs");
    if (!text_.accept_word("ranks")) return;
    text_.expect('[');
    while (!text_.accept(']')) {
      if (!foreign.ranks.empty()) text_.expect(',');
      foreign.ranks.push_back(static_cast<std::uint32_t>(text_.integer()));
    }
  }

  void operation(RegionId region) {
    Op op;
    std::vector<VarId> follow_operation;  // declared here without a position of their own
    if (text_.peek().kind == Kind::variable) {
      do op.results.push_back(result(region, follow_operation));
      while (text_.accept(','));
      text_.expect('=');
    }
    const unsigned line = text_.peek().line;
    const std::string text = text_.expect(Kind::word, "an operation");
    const auto kind = op_kinds().find(text);
    if (kind == op_kinds().end()) text_.fail("unknown operation `" + text + "`");
    op.kind = kind->second;
    if (text_.peek().kind == Kind::function) callee(op);
    if (at_operand(line)) op.operands = operand_list();
    while (text_.peek().kind == Kind::word && text_.peek().line == line) attribute(op);
    while (text_.is(Kind::punctuation, "{")) nested(op, region);
    op.span = text_.position();
    for (const VarId id : follow_operation) function_.variables[id].span = op.span;
    function_.regions[region].ops.push_back(std::move(op));
  }

  VarId result(RegionId region, std::vector<VarId>& follow_operation) {
    const std::string name = text_.expect(Kind::variable, "a result");
    if (!text_.is(Kind::punctuation, ":")) return mention(name);
    const VarId id = declare(name, region);
    function_.regions[region].variables.push_back(id);
    if (text_.peek().kind == Kind::position)
      function_.variables[id].span = text_.take().span;
    else
      follow_operation.push_back(id);
    return id;
  }

  void callee(Op& op) {
    const std::string name = text_.take().text;
    op.callee =
        op.kind == OpKind::call_builtin ? stdlib::find_builtin(name).value_or(none) : text_.function_named(name);
    if (op.callee == none) text_.fail("unknown library function @" + name);
  }

  void nested(Op& op, RegionId around) {
    // the body of a loop sees the variables of its test
    const bool is_loop_body = op.kind == OpKind::loop && op.regions.size() == 1;
    function_.regions.emplace_back().parent = is_loop_body ? op.regions[0] : around;
    const auto id = static_cast<RegionId>(function_.regions.size() - 1);
    op.regions.push_back(id);
    region(id);
  }

  void attribute(Op& op) {
    const std::string word = text_.take().text;
    if (word == "writers" || word == "field" || word == "files")
      op.number = text_.integer();
    else if (word == "mode")
      op.number = update_mode();
    else if (word == "names" || word == "replaces")
      op.number = 1;
    else if (word == "ordered")
      op.number += 2 * text_.integer();
    else if (word == "labels")
      labels(op);
    else if (word == "types")
      operand_types(op);
    else if (word == "prio")
      op.priority = operand();
    else if (word == "rank")
      op.rank = operand();
    else if (word == "test")
      op.condition = operand();
    else if (word == "next")
      op.nexts = operand_list();
    else if (word == "launch")
      op.launch = static_cast<LaunchId>(text_.integer());
    else if (word == "nest")
      op.nest = static_cast<NestId>(text_.integer());
    else if (word == "kernel")
      op.kernel = static_cast<LoopKernelId>(text_.integer());
    else if (word == "reduced" || word == "reduced_to_deviation")
      reduced(op, word);
    else if (word == "filled")
      op.is_filled = true;
    else if (word == "tracked")
      op.is_tracked = true;
    else if (word == "up" || word == "down")
      op.fill_order = word == "up" ? FillOrder::up : FillOrder::down;
    else if (word == "chain")
      op.is_chain = true;
    else if (word == "needed")
      op.is_needed = true;
    else if (word == "whole")
      op.is_whole = true;
    else if (word == "swallowed")
      op.swallowed = static_cast<std::uint32_t>(text_.integer());
    else if (word == "behind")
      op.barrier = barrier();
    else if (word == "on_cpu")
      op.placement = vm::Placement::cpu;
    else if (word == "on_gpu")
      op.placement = vm::Placement::gpu;
    else if (word == "after")
      op.test_after = true;
    else
      text_.fail("unknown attribute `" + word + "`");
  }

  vm::Barrier barrier() {
    const auto& names = vm::barrier_names;
    const auto found = std::ranges::find(names, text_.expect(Kind::word, "what a launch is behind"));
    if (found == names.end()) text_.fail("unknown barrier");
    return static_cast<vm::Barrier>(found - names.begin());
  }

  std::int64_t update_mode() {
    const std::string word = text_.expect(Kind::word, "`incr`, `min` or `scale`");
    for (std::int64_t mode = 0; mode < 3; ++mode)
      if (word == update_modes[mode]) return mode;
    text_.fail("unknown mode `" + word + "`");
  }

  static void reduced(Op& op, std::string_view word) {
    op.is_reduced = true;
    op.has_deviation = word == "reduced_to_deviation";
  }

  void labels(Op& op) {
    text_.expect('[');
    while (!text_.accept(']')) {
      if (!op.labels.empty()) text_.expect(',');
      op.labels.push_back(text_.integer());
    }
  }

  void operand_types(Op& op) {
    text_.expect('[');
    while (!text_.accept(']')) {
      if (!op.operand_types.empty()) text_.expect(',');
      op.operand_types.push_back(text_.type());
    }
  }

  ModuleText& text_;
  Function& function_;
};

}  // namespace

void read_function(ModuleText& text, Function& function) { FunctionReader(text, function).run(); }

}  // namespace raddle::ir
