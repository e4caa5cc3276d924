#include "vm/kernel/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace raddle::vm {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string constant_text(KernelType type, std::int64_t bits) {
  if (type == KernelType::boolean) return bits != 0 ? "true" : "false";
  if (type == KernelType::int_) return std::to_string(bits);
  const auto number = std::bit_cast<double>(bits);
  if (!std::isfinite(number)) return fmt::format("0x{:016x}", static_cast<std::uint64_t>(bits));
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string run(KernelId id) {
    out_ = fmt::format("kernel {} {}{} (", id, quoted(kernel_.name), place(kernel_.place));
    for (KernelRegister parameter = 0; parameter < kernel_.parameter_count; ++parameter)
      out_ += (parameter == 0 ? "" : ", ") + typed(parameter);
    const std::string rows = kernel_.row_count == 0 ? "" : fmt::format(" rows {}", kernel_.row_count);
    out_ += fmt::format("){} -> ({}) {{\n", rows, list(kernel_.outputs));
    ++depth_;
    for (std::size_t i = 0; i < kernel_.constants.size(); ++i) {
      const auto constant = static_cast<KernelRegister>(kernel_.parameter_count + i);
      line(fmt::format("const {} = {}", typed(constant), constant_text(kernel_.types[constant], kernel_.constants[i])));
    }
    --depth_;
    block(0);
    return std::move(out_) + "}\n";
  }

 private:
  static std::string place(const Place& place) {
    return fmt::format(" at {}:{}-{}", place.file, place.begin, place.end);
  }
  std::string typed(KernelRegister id) const { return fmt::format("%{}: {}", id, text_of(kernel_.types[id])); }
  std::string typed(const std::vector<KernelRegister>& registers) const {
    std::string text;
    for (const KernelRegister id : registers) text += (text.empty() ? "" : ", ") + typed(id);
    return text;
  }
  static std::string list(const std::vector<KernelRegister>& registers) {
    std::string text;
    for (const KernelRegister id : registers) text += fmt::format("{}%{}", text.empty() ? "" : ", ", id);
    return text;
  }
  void line(std::string_view text) {
    constexpr std::size_t most_indented = 40;  // of a long chain of `else`
    out_.append(2 * std::min(depth_, most_indented), ' ').append(text) += '\n';
  }
  void block(KernelBlockId id) {
    ++depth_;
    for (const KernelInstruction& instruction : kernel_.blocks[id]) print(instruction);
    --depth_;
  }

  void print(const KernelInstruction& in) {
    const std::string at = place(in.place);
    switch (in.op) {
      case KernelOp::if_: {
        const KernelBranch& branch = kernel_.branches[in.index];
        line(fmt::format("if %{}{} {{", in.inputs[0], at));
        block(branch.then_block);
        if (branch.else_block != no_kernel_part) {
          line("} else {");
          block(branch.else_block);
        }
        return line("}");
      }
      case KernelOp::loop: {
        const KernelLoop& loop = kernel_.loops[in.index];
        line(fmt::format("loop ({}) = ({}){} {{", typed(loop.variables), list(loop.initial), at));
        block(loop.test_block);
        line(fmt::format("}} {} %{} {{", loop.test_after ? "until" : "while", loop.condition));
        block(loop.body_block);
        return line(fmt::format("}} next ({})", list(loop.next)));
      }
      case KernelOp::call: {
        const KernelCall& call = kernel_.calls[in.index];
        return line(fmt::format("({}) = call {} ({}){}", typed(call.results), call.kernel, list(call.inputs), at));
      }
      case KernelOp::reduce: {
        const KernelReduction& reduction = kernel_.reductions[in.index];
        return line(fmt::format("{} = reduce {} {} %{} ({}){}", typed(reduction.result), text_of(reduction.reducer),
                                reduction.kernel, reduction.count, list(reduction.inputs), at));
      }
      case KernelOp::foreign: {
        const KernelForeignCall& call = kernel_.foreign_calls[in.index];
        const std::string number = call.function == no_kernel_part ? "-" : std::to_string(call.function);
        return line(fmt::format("{} = foreign {} {} {} ({}){}", typed(call.result), quoted(call.library),
                                quoted(call.symbol), number, list(call.inputs), at));
      }
      case KernelOp::each: {
        const KernelEach& each = kernel_.eaches[in.index];
        line(fmt::format("each {} of %{}{} {{", typed(each.point), each.count, at));
        block(each.block);
        return line("}");
      }
      default: break;
    }
    std::string text = in.result == no_kernel_part ? "" : typed(in.result) + " = ";
    text += info(in.op).text;
    for (const KernelRegister input : in.inputs)
      if (input != no_kernel_part) text += fmt::format(" %{}", input);
    line(text + at);
  }

  const Kernel& kernel_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print_kernel(const Kernel& kernel, KernelId id) { return Printer(kernel).run(id); }

}  // namespace raddle::vm
