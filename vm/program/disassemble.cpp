#include "vm/program/disassemble.hpp"

#include <fmt/format.h>

#include "vm/value/text.hpp"

namespace raddle::vm {

namespace {

class Disassembler {
 public:
  explicit Disassembler(const Program& program) : program_(program) {}

  std::string all() {
    for (BodyId id = 0; id < program_.bodies.size(); ++id) write_body(id);
    return std::move(out_);
  }

 private:
  std::string operand(Operand operand) const {
    if (operand.is_absent()) return "-";
    if (operand.is_constant()) {
      const Value& value = program_.constants[operand.index()];
      return value.kind() == ValueKind::string ? fmt::format("\"{}\"", value.as_string()) : to_text(value);
    }
    const VariableInfo* variable = find_variable(program_, body_, operand);
    return fmt::format("{}{}{}.{}", std::string(operand.level(), '^'), operand.is_indirect() ? "*" : "", variable->name,
                       operand.index());
  }

  template <typename Operands>
  std::string operands(const Operands& list) const {
    std::string text;
    for (const Operand each : list) text += (text.empty() ? "" : ", ") + operand(each);
    return text;
  }

  std::string shares(const std::vector<WriterShare>& list) const {
    std::string text;
    for (const WriterShare& share : list) text += fmt::format(" writers {} of {}", share.writers, operand(share.array));
    return text;
  }

  void write_body(BodyId id) {
    body_ = id;
    const Body& body = program_.bodies[id];
    out_ += fmt::format("body {} of @{}: {} futures, {} outputs, {} strand states\n", id,
                        program_.functions[body.function].name, body.future_count, body.output_count, body.state_count);
    const bool has_kernel =
        body.parent == no_id && body.function < program_.kernels.size() && program_.kernels[body.function].exists();
    if (has_kernel) line(1, fmt::format("kernel {}", body.function));
    write_region(body.region, 1);
  }

  void write_region(RegionId id, int indent) {
    const Region& region = program_.regions[id];
    for (StrandId each = region.first_strand; each < region.first_strand + region.strand_count; ++each) {
      write_strand(program_.strands[each], indent);
    }
  }

  void line(int indent, const std::string& text) { out_ += std::string(indent * 2, ' ') + text + "\n"; }

  void write_strand(const Strand& strand, int indent) {
    std::string head = "strand";
    for (std::uint32_t i = 0; i < strand.awaited_count; ++i) {
      const AwaitedInput& input = program_.awaited[strand.first_awaited + i];
      head += fmt::format("{} {} {}", i == 0 ? " awaits" : ",", operand(input.variable), text_of(input.mode));
    }
    line(indent, head);
    for (std::uint32_t i = 0; i < strand.instruction_count; ++i) {
      write_instruction(program_.instructions[strand.first_instruction + i], indent + 1);
    }
  }

  void write_instruction(const Instruction& in, int indent) {
    const std::string name = text_of(in.opcode);
    const std::string result = fmt::format("{}{} = {}", operand(in.a), in.is_private ? "!" : "", name);
    switch (form_of(in.opcode)) {
      case InstructionForm::make: return line(indent, fmt::format("{} {}", result, in.d));
      case InstructionForm::unary: return line(indent, fmt::format("{} {} {}", result, operand(in.b), in.d));
      case InstructionForm::binary: return line(indent, fmt::format("{} {}, {}", result, operand(in.b), operand(in.c)));
      case InstructionForm::ternary:
        return line(indent, fmt::format("{} {}, {}, {}", result, operand(in.b), operand(in.c),
                                        operand(Operand::from_bits(in.d))));
      case InstructionForm::list: {
        const auto first = program_.lists.begin() + in.b.bits();
        return line(indent, fmt::format("{} {}", result, operands(std::vector<Operand>(first, first + in.d))));
      }
      case InstructionForm::insert:
      case InstructionForm::append:
      case InstructionForm::row:
        return line(indent, fmt::format("{} {}, {}, {} root {}", name, operand(in.a), operand(in.b), operand(in.c),
                                        operand(Operand::from_bits(in.d))));
      case InstructionForm::hold:
        return line(indent, fmt::format("{} {} root {}", name, operand(in.b), operand(Operand::from_bits(in.d))));
      case InstructionForm::store:
        return line(indent, fmt::format("{} {}, {} field {}", name, operand(in.a), operand(in.c), in.d));
      case InstructionForm::call: {
        const CallSite& site = program_.calls[in.d];
        return line(indent, fmt::format("{} = {} @{} {}{}", operands(site.results), name,
                                        program_.functions[site.function].name, operands(site.arguments),
                                        site.is_tail ? " tail" : ""));
      }
      case InstructionForm::builtin: {
        const BuiltinSite& site = program_.builtins[in.d];
        return line(indent,
                    fmt::format("{} = {} @{} {}", operands(site.results), name, site.name, operands(site.arguments)));
      }
      case InstructionForm::app: return line(indent, fmt::format("{} {}", name, operands(program_.apps[in.d].words)));
      case InstructionForm::memo: return write_memo(in, indent);
      case InstructionForm::branch: return write_branch(in, indent);
      case InstructionForm::foreach: {
        const ForeachSite& site = program_.foreaches[in.d];
        line(indent, fmt::format("{} {}, {}, {} body {}{}{}", name, operand(in.a), operand(in.b), operand(in.c),
                                 site.body, shares(site.shares), site.is_in_nest ? " in nest" : ""));
        if (site.launch.leaf != no_id) write_launch(site.launch, indent + 1);
        if (site.is_nest()) write_nest(site.nest, indent + 1);
        return;
      }
      case InstructionForm::attempt: {
        const AttemptSite& site = program_.attempts[in.d];
        return line(indent, fmt::format("{} body {}{}", result, site.body, shares(site.shares)));
      }
      case InstructionForm::loop: {
        const LoopSite& site = program_.loops[in.d];
        return line(indent, fmt::format("{} = {} {} body {}{}{}", operands(site.results), name, operands(site.initial),
                                        site.body, shares(site.shares), kernel(site.kernel)));
      }
      case InstructionForm::loop_test: {
        const LoopSite& site = program_.loops[in.d];
        line(indent, fmt::format("{} {} next {}", name, operand(in.b), operands(site.nexts)));
        return write_arm(site.step, indent + 1);
      }
    }
  }

  std::string kernel(const LoopKernelSite& kernel) const {
    if (!kernel.exists()) return "";
    std::string text = fmt::format(" kernel @{} {}", program_.functions[kernel.leaf].name, operands(kernel.captures));
    for (const LoopSink& sink : kernel.sinks)
      text += fmt::format(" {} {}", sink.is_sometimes ? "sometimes" : "always", operand(sink.array));
    return text;
  }

  static std::string clause(std::string_view word, const std::string& list) {
    return list.empty() ? "" : fmt::format("{}{}", word, list);
  }

  std::string input(const LaunchInput& input) const {
    const std::string text = input.operand.is_absent() ? fmt::format("value {}", input.value) : operand(input.operand);
    return input.is_needed ? "needed " + text : text;
  }

  std::string inputs(const std::vector<LaunchInput>& list) const {
    std::string text;
    for (const LaunchInput& each : list) text += (text.empty() ? "" : ", ") + input(each);
    return text;
  }

  std::string key(const LaunchKey& key) const {
    if (!key.is_affine()) return fmt::format("projection {}", key.result);
    std::string text;
    if (key.stride != 0) text = key.stride == 1 ? "point" : fmt::format("{} * point", key.stride);
    if (!key.base.operand.is_absent() || key.base.value != no_id)
      text += clause(text.empty() ? "" : " + ", input(key.base));
    if (text.empty()) return fmt::format("{}", key.offset);
    if (key.offset == 0) return text;
    return key.offset < 0 ? fmt::format("{} - {}", text, 0 - static_cast<std::uint64_t>(key.offset))
                          : fmt::format("{} + {}", text, key.offset);
  }

  /// Of an access of a projected launch: of rows, then of the element.
  std::string keys(const IndexLaunch& launch, std::uint32_t first, std::uint32_t count) const {
    std::string text;
    for (std::uint32_t i = first; i < first + count; ++i) text += "[" + key(launch.keys[i]) + "]";
    return text.empty() ? "[point]" : text;
  }

  void write_launch(const IndexLaunch& launch, int indent) {
    line(indent, fmt::format("launch @{}{}{}", program_.functions[launch.leaf].name,
                             clause(" captures ", inputs(launch.captures)),
                             launch.start == LaunchStart::at_arrays ? " at arrays"
                             : launch.start == LaunchStart::at_last ? " at last elements"
                                                                    : ""));
    if (launch.projection != no_id)
      line(indent + 1, fmt::format("projection @{}{}", program_.functions[launch.projection].name,
                                   clause(" of ", inputs(launch.projected))));
    for (const LaunchRead& read : launch.reads)
      line(indent + 1, fmt::format("read {}{}", operand(read.array), keys(launch, read.first_key, read.key_count)));
    for (const LaunchSink& sink : launch.sinks) write_sink(launch, sink, indent + 1);
  }

  void write_sink(const IndexLaunch& launch, const LaunchSink& sink, int indent) {
    const std::string target = operand(sink.target);
    switch (sink.kind) {
      case LaunchSink::Kind::element: {
        std::string rows;
        for (const LaunchInput& row : sink.row_keys) rows += "[" + input(row) + "]";
        return line(indent, fmt::format("write {}{}{}", target, rows, keys(launch, sink.first_key, sink.key_count)));
      }
      case LaunchSink::Kind::row:
        return line(indent, fmt::format("write {}[row {} of {}]", target, key(sink.row), operand(sink.width)));
      case LaunchSink::Kind::increment: return line(indent, "increment " + target);
      case LaunchSink::Kind::minimum: return line(indent, "minimum " + target);
      case LaunchSink::Kind::scale: return line(indent, "scale " + target);
    }
  }

  void write_nest(const LaunchNest& nest, int indent) {
    line(indent, fmt::format("nest @{}{} over {}, {}, {}{}", program_.functions[nest.prelude].name,
                             clause(" captures ", operands(nest.captures)), operand(nest.low), operand(nest.high),
                             operand(nest.step), nest.is_chained ? " chained" : ""));
  }

  void write_memo(const Instruction& in, int indent) {
    const MemoSite& site = program_.memos[in.d];
    line(indent, fmt::format("{} {} files {} inputs {} outputs {}", text_of(in.opcode), operand(site.key),
                             operands(site.files), operands(site.inputs), operands(site.outputs)));
    if (in.opcode == Opcode::memo) write_arm(site.miss, indent + 1);
  }

  void write_branch(const Instruction& in, int indent) {
    line(indent, fmt::format("{} {}", text_of(in.opcode), operand(in.b)));
    for (const Arm& arm : program_.branches[in.d].arms) write_arm(arm, indent + 1);
  }

  void write_arm(const Arm& arm, int indent) {
    line(indent, "arm" + shares(arm.shares));
    if (arm.region != no_id) write_region(arm.region, indent + 1);
  }

  const Program& program_;
  BodyId body_ = 0;
  std::string out_;
};

}  // namespace

std::string disassemble(const Program& program) { return Disassembler(program).all(); }

}  // namespace raddle::vm
