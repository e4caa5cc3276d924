#include "vm/kernel/verify_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace raddle::vm {

namespace {

/// By register: whether all paths to a place assign it, whether some path does.
struct Assigned {
  std::vector<bool> always, ever;
};

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    check_head();
    if (!fault_.empty()) return fault_;
    now_.always.resize(kernel_.types.size());
    now_.ever.resize(kernel_.types.size());
    for (KernelRegister id = 0; id < first_other(); ++id) now_.always[id] = now_.ever[id] = true;
    is_own_.resize(kernel_.types.size());
    for (KernelRegister row = 1; row <= kernel_.row_count; ++row) is_own_[row] = true;
    block(0);
    for (const KernelRegister output : kernel_.outputs) {
      reads(output);
      if (fault_.empty() && is_array(kernel_.types[output])) fail("an output is an array");
    }
    if (fault_.empty() && std::ranges::find(now_.ever, false) != now_.ever.end())
      fail("a register is nowhere assigned");
    const bool is_all_there = blocks_ == kernel_.blocks.size() && branches_ == kernel_.branches.size() &&
                              loops_ == kernel_.loops.size() && calls_ == kernel_.calls.size() &&
                              reductions_ == kernel_.reductions.size() &&
                              foreign_calls_ == kernel_.foreign_calls.size() && eaches_ == kernel_.eaches.size();
    if (fault_.empty() && !is_all_there) fail("a part is nowhere used");
    return fault_;
  }

 private:
  std::size_t first_other() const { return kernel_.parameter_count + kernel_.constants.size(); }

  void fail(std::string what) {
    if (fault_.empty()) fault_ = fmt::format("kernel `{}`: {}", kernel_.name, what);
  }

  void check_head() {
    if (kernel_.blocks.empty()) return fail("there is no block");
    if (first_other() > kernel_.types.size()) return fail("a register has no type");
    if (kernel_.row_count >= std::max(kernel_.parameter_count, 1U)) return fail("a row is no parameter");
    for (KernelRegister row = 1; row <= kernel_.row_count; ++row)
      if (!is_array(kernel_.types[row])) return fail("a row is no array");
    for (std::size_t i = 0; i < kernel_.constants.size(); ++i) {
      const KernelType type = kernel_.types[kernel_.parameter_count + i];
      if (is_array(type)) return fail("a constant is an array");
      const std::int64_t bits = kernel_.constants[i];
      if (type == KernelType::boolean && bits != 0 && bits != 1) return fail("a boolean is neither true nor false");
    }
  }

  bool exists(KernelRegister id) {
    if (id < kernel_.types.size()) return true;
    fail("a register does not exist");
    return false;
  }
  void reads(KernelRegister id) {
    if (exists(id) && !now_.always[id]) fail(fmt::format("%{} is read before it is assigned", id));
  }
  void reads(KernelRegister id, KernelType type) {
    reads(id);
    if (fault_.empty() && kernel_.types[id] != type) fail(fmt::format("%{} is no {}", id, text_of(type)));
  }
  void assigns(KernelRegister id) {
    if (!exists(id)) return;
    if (now_.ever[id]) return fail(fmt::format("%{} is assigned twice", id));
    now_.always[id] = now_.ever[id] = true;
  }
  /// Of the kernel's own: once in each call.
  void makes_array(KernelRegister id) {
    assigns(id);
    if (!fault_.empty()) return;
    if (depth_of_loops_ != 0) return fail("an array is made in a loop");
    is_own_[id] = true;
  }
  /// By an instruction. An array is not made.
  void makes(KernelRegister id) {
    if (exists(id) && is_array(kernel_.types[id])) fail("an array is made");
    assigns(id);
  }

  void block(KernelBlockId id) {
    if (!fault_.empty()) return;
    if (id != blocks_++ || id >= kernel_.blocks.size()) return fail("blocks are not numbered as they come");
    for (const KernelInstruction& instruction : kernel_.blocks[id]) {
      if (!fault_.empty()) return;
      if (is_control(instruction.op))
        control(instruction);
      else
        compute(instruction);
    }
  }

  void compute(const KernelInstruction& instruction) {
    const KernelOpInfo& about = info(instruction.op);
    if (instruction.index != 0) return fail("an operation that names a part");
    for (std::size_t i = 0; i < instruction.inputs.size(); ++i) {
      const KernelRegister input = instruction.inputs[i];
      if (i >= about.inputs.size()) {
        if (input != no_kernel_part) return fail(fmt::format("`{}` with too many inputs", about.text));
        continue;
      }
      reads(input);
      if (fault_.empty() && !matches(about.inputs[i], kernel_.types[input]))
        return fail(fmt::format("`{}` of %{}, whose type is {}", about.text, input, text_of(kernel_.types[input])));
    }
    if (!fault_.empty()) return;
    if (about.result == 'v') {
      if (instruction.result != no_kernel_part) return fail(fmt::format("`{}` has no result", about.text));
      if (about.failure == KernelFailure::index && !is_own_[instruction.inputs[0]])
        fail("an array that is not the kernel's own is written");
      return;
    }
    if (about.failure == KernelFailure::memory)
      makes_array(instruction.result);
    else if (about.result == 'A')
      assigns(instruction.result);
    else
      makes(instruction.result);
    if (!fault_.empty()) return;
    const KernelType type = kernel_.types[instruction.result];
    const bool fits = about.result == 'x' || about.result == 'A' ? type == kernel_.types[instruction.inputs[0]]
                                                                 : matches(about.result, type);
    if (!fits) fail(fmt::format("`{}` gives no {}", about.text, text_of(type)));
  }

  void control(const KernelInstruction& instruction) {
    const std::size_t input_count = instruction.op == KernelOp::if_ ? 1 : 0;
    for (std::size_t i = input_count; i < instruction.inputs.size(); ++i)
      if (instruction.inputs[i] != no_kernel_part) return fail("too many inputs");
    if (instruction.result != no_kernel_part) return fail("a result of a control operation");
    switch (instruction.op) {
      case KernelOp::if_: return branch(instruction);
      case KernelOp::loop:
        if (comes_next(instruction.index, loops_, kernel_.loops.size())) loop(kernel_.loops[instruction.index]);
        return;
      case KernelOp::call:
        if (comes_next(instruction.index, calls_, kernel_.calls.size())) call(kernel_.calls[instruction.index]);
        return;
      case KernelOp::reduce:
        if (comes_next(instruction.index, reductions_, kernel_.reductions.size()))
          reduce(kernel_.reductions[instruction.index]);
        return;
      case KernelOp::each:
        if (comes_next(instruction.index, eaches_, kernel_.eaches.size())) each(kernel_.eaches[instruction.index]);
        return;
      default:
        if (comes_next(instruction.index, foreign_calls_, kernel_.foreign_calls.size()))
          foreign(kernel_.foreign_calls[instruction.index]);
        return;
    }
  }
  bool comes_next(std::uint32_t index, std::size_t& count, std::size_t size) {
    if (index == count && index < size) return ++count, true;
    fail("parts are not numbered as they come");
    return false;
  }

  void branch(const KernelInstruction& instruction) {
    if (!comes_next(instruction.index, branches_, kernel_.branches.size())) return;
    reads(instruction.inputs[0], KernelType::boolean);
    if (!fault_.empty()) return;
    const KernelBranch& branch = kernel_.branches[instruction.index];
    const Assigned before = now_;
    block(branch.then_block);
    Assigned then = std::move(now_);
    now_ = before;
    if (branch.else_block != no_kernel_part) block(branch.else_block);
    for (std::size_t i = 0; i < kernel_.types.size(); ++i) {
      now_.always[i] = now_.always[i] && then.always[i];
      now_.ever[i] = now_.ever[i] || then.ever[i];
    }
  }

  void loop(const KernelLoop& loop) {
    const std::size_t count = loop.variables.size();
    if (loop.initial.size() != count || loop.next.size() != count)
      return fail("a loop with other values than variables");
    const auto takes = [&](const std::vector<KernelRegister>& values) {
      for (std::size_t i = 0; i < count && fault_.empty(); ++i)
        if (exists(loop.variables[i])) reads(values[i], kernel_.types[loop.variables[i]]);
    };
    takes(loop.initial);
    for (const KernelRegister variable : loop.variables) assigns(variable);
    if (!fault_.empty()) return;
    find_own_variables(loop);
    const std::vector<bool> before = now_.always;
    ++depth_of_loops_;
    block(loop.test_block);
    if (!loop.test_after && fault_.empty()) reads(loop.condition, KernelType::boolean);
    block(loop.body_block);
    if (loop.test_after && fault_.empty()) reads(loop.condition, KernelType::boolean);
    if (fault_.empty()) takes(loop.next);
    --depth_of_loops_;
    now_.always = before;  // what is in the loop is not read behind it
  }
  /// Those that are never anything but arrays of the kernel's own.
  void find_own_variables(const KernelLoop& loop) {
    const std::vector<KernelRegister>& variables = loop.variables;
    for (std::size_t i = 0; i < variables.size(); ++i) is_own_[variables[i]] = is_own_[loop.initial[i]];
    for (std::size_t i = 0; i < variables.size();) {
      const bool is_kept = !is_own_[variables[i]] || (exists(loop.next[i]) && is_own_[loop.next[i]]);
      is_own_[variables[i]] = is_own_[variables[i]] && is_kept;
      i = is_kept ? i + 1 : 0;
    }
  }
  void each(const KernelEach& each) {
    reads(each.count, KernelType::int_);
    makes(each.point);
    if (fault_.empty() && kernel_.types[each.point] != KernelType::int_) fail("a point is no int");
    const std::vector<bool> before = now_.always;
    ++depth_of_loops_;
    block(each.block);
    --depth_of_loops_;
    now_.always = before;
  }

  void call(const KernelCall& call) {
    for (const KernelRegister input : call.inputs) reads(input);
    for (const KernelRegister result : call.results) makes(result);
  }
  void reduce(const KernelReduction& reduction) {
    reads(reduction.count, KernelType::int_);
    for (const KernelRegister input : reduction.inputs) reads(input);
    makes(reduction.result);
  }
  void foreign(const KernelForeignCall& call) {
    for (const KernelRegister input : call.inputs) reads(input);
    makes(call.result);
  }

  const Kernel& kernel_;
  Assigned now_;
  std::size_t blocks_ = 0, branches_ = 0, loops_ = 0, calls_ = 0, reductions_ = 0, foreign_calls_ = 0,
              eaches_ = 0;       ///< that have come
  unsigned depth_of_loops_ = 0;  ///< around what is looked at
  std::vector<bool> is_own_;     ///< by register: an array that the kernel may write
  std::string fault_;
};

bool have_types(const Kernel& caller, const std::vector<KernelRegister>& registers, std::span<const KernelType> types) {
  return std::ranges::equal(registers, types, {}, [&](KernelRegister id) { return caller.types[id]; });
}

std::string verify_call(const Kernel& caller, const KernelCall& call, std::span<const Kernel> kernels) {
  const auto fault = [&](std::string_view what) { return fmt::format("kernel `{}`: {}", caller.name, what); };
  if (call.kernel >= kernels.size() || !kernels[call.kernel].exists()) return fault("it calls what is no kernel");
  const Kernel& callee = kernels[call.kernel];
  if (callee.row_count != 0) return fault("it calls what writes rows");
  std::vector<KernelType> outputs;
  for (const KernelRegister output : callee.outputs) outputs.push_back(callee.types[output]);
  if (!have_types(caller, call.inputs, std::span(callee.types).first(callee.parameter_count)))
    return fault("a call with other types");
  if (!have_types(caller, call.results, outputs)) return fault("a call with other results");
  return {};
}

std::string verify_reduction(const Kernel& caller, const KernelReduction& reduction, std::span<const Kernel> kernels) {
  const auto fault = [&](std::string_view what) { return fmt::format("kernel `{}`: {}", caller.name, what); };
  if (reduction.kernel >= kernels.size() || !kernels[reduction.kernel].exists())
    return fault("it reduces what is no kernel");
  const Kernel& callee = kernels[reduction.kernel];
  if (&callee == &caller) return fault("it reduces itself");
  if (callee.row_count != 0) return fault("it reduces what writes rows");
  const std::span parameters = std::span(callee.types).first(callee.parameter_count);
  if (parameters.empty() || parameters[0] != KernelType::int_ ||
      !have_types(caller, reduction.inputs, parameters.subspan(1)))
    return fault("a reduction with other types");
  if (callee.outputs.size() != 1) return fault("a reduction of other than one number");
  const KernelType number = callee.types[callee.outputs[0]];
  if (number != KernelType::int_ && number != KernelType::float_) return fault("a reduction of no numbers");
  if (caller.types[reduction.result] != result_of(reduction.reducer, number))
    return fault("a reduction with another result");
  return {};
}

}  // namespace

std::string verify_kernel(const Kernel& kernel) { return Verifier(kernel).run(); }

std::string verify_kernels(std::span<const Kernel> kernels) {
  for (const Kernel& kernel : kernels)
    if (std::string fault = kernel.exists() ? verify_kernel(kernel) : ""; !fault.empty()) return fault;
  for (const Kernel& kernel : kernels) {
    for (const KernelCall& call : kernel.calls)
      if (std::string fault = verify_call(kernel, call, kernels); !fault.empty()) return fault;
    for (const KernelReduction& reduction : kernel.reductions)
      if (std::string fault = verify_reduction(kernel, reduction, kernels); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace raddle::vm
