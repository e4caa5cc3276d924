#include "vm/kernel/scalar_code.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace raddle::vm {

namespace {

using Word = std::uint16_t;

constexpr std::size_t most_words = 4096;
constexpr std::size_t most_instructions = std::numeric_limits<Word>::max();

class Assembler {
 public:
  explicit Assembler(const Kernel& kernel) : kernel_(kernel), uses_(kernel.types.size()), passed_by_(uses_.size()) {}

  ScalarCode run() {
    for (KernelRegister id = 0; id < kernel_.types.size(); ++id) {
      if (id == kernel_.parameter_count) code_.parameter_words = static_cast<Word>(frame_words_);
      words_.push_back(make_words(words_of(kernel_.types[id])));
    }
    if (kernel_.types.size() == kernel_.parameter_count) code_.parameter_words = static_cast<Word>(frame_words_);
    code_.constants = kernel_.constants;
    count_uses();
    block(0);
    put(ScalarOpcode::end);
    if (is_refused_ || frame_words_ > most_words || code_.instructions.size() > most_instructions) return {};
    for (const KernelRegister output : kernel_.outputs) code_.outputs.push_back(words_[output]);
    code_.frame_words = static_cast<Word>(frame_words_);
    for (const std::size_t moves : passed_) code_.instructions[moves].a += code_.frame_words;
    for (ScalarInstruction& instruction : code_.instructions)
      if (instruction.opcode == ScalarOpcode::jump && code_.instructions[instruction.a].opcode == ScalarOpcode::end)
        instruction.opcode = ScalarOpcode::end;
    return std::move(code_);
  }

 private:
  Word make_words(std::size_t count) {
    frame_words_ += count;
    return static_cast<Word>(frame_words_ - count);
  }

  void count_uses() {
    const auto use = [this](KernelRegister id) {
      if (id != no_kernel_part) ++uses_[id];
    };
    for (const std::vector<KernelInstruction>& block : kernel_.blocks)
      for (const KernelInstruction& instruction : block) std::ranges::for_each(instruction.inputs, use);
    for (const KernelLoop& loop : kernel_.loops) {
      std::ranges::for_each(loop.initial, use);
      std::ranges::for_each(loop.next, use);
      use(loop.condition);
    }
    for (const KernelCall& call : kernel_.calls) std::ranges::for_each(call.inputs, use);
    for (const KernelForeignCall& call : kernel_.foreign_calls) std::ranges::for_each(call.inputs, use);
    for (const KernelRegister output : kernel_.outputs) uses_[output] += 2;
  }

  // ---------------------------------------------------------------- instructions

  std::size_t put(ScalarOpcode opcode, Word a = 0, Word b = 0, Word c = 0) {
    code_.instructions.push_back({opcode, a, b, c});
    return code_.instructions.size() - 1;
  }
  void land(std::size_t jump) { code_.instructions[jump].a = static_cast<Word>(code_.instructions.size()); }
  void move(Word from, Word to) {
    if (from != to) put(ScalarOpcode::copy, to, from);
  }

  void block(KernelBlockId id) {
    const std::vector<KernelInstruction>& instructions = kernel_.blocks[id];
    find_arguments(instructions);
    for (std::size_t i = 0; i < instructions.size() && !is_refused_; ++i) {
      const KernelInstruction& in = instructions[i];
      if (in.result != no_kernel_part && passed_by_[in.result] != nullptr) continue;
      if (i + 1 < instructions.size() && decides(in, instructions[i + 1])) {
        branch(instructions[i + 1], unless(in));
        ++i;
      } else {
        instruction(in);
      }
    }
  }

  /// What is computed for one call only is computed where the call takes it.
  void find_arguments(const std::vector<KernelInstruction>& instructions) {
    std::vector<const KernelInstruction*> candidates(kernel_.types.size());
    for (const KernelInstruction& in : instructions) {
      const bool is_one = !is_control(in.op) && in.op != KernelOp::copy && info(in.op).inputs.size() <= 2;
      if (is_one && in.result != no_kernel_part && uses_[in.result] == 1) candidates[in.result] = &in;
      if (in.op != KernelOp::call) continue;
      for (const KernelRegister input : kernel_.calls[in.index].inputs)
        if (candidates[input] != nullptr) passed_by_[input] = candidates[input];
    }
  }

  void instruction(const KernelInstruction& in) {
    switch (in.op) {
      case KernelOp::if_: return branch(in, put(ScalarOpcode::unless, 0, words_[in.inputs[0]]));
      case KernelOp::loop: return loop(kernel_.loops[in.index]);
      case KernelOp::call: return call(kernel_.calls[in.index]);
      case KernelOp::foreign: return foreign(kernel_.foreign_calls[in.index]);
      default: return compute(in, in.result == no_kernel_part ? Word{0} : words_[in.result]);
    }
  }
  void compute(const KernelInstruction& in, Word result) {
    Word inputs[3] = {};
    for (std::size_t i = 0; i < info(in.op).inputs.size(); ++i) inputs[i] = words_[in.inputs[i]];
    put(static_cast<ScalarOpcode>(in.op), result, inputs[0], inputs[1]);
    if (info(in.op).inputs.size() > 2) put(ScalarOpcode::copy, inputs[2]);
  }

  // ---------------------------------------------------------------- branches

  static bool is_comparison(KernelOp op) {
    return op == KernelOp::eq_int || op == KernelOp::ne_int || op == KernelOp::lt_int || op == KernelOp::le_int;
  }
  /// `test` compares ints for the `if` that follows only: both become one instruction.
  bool decides(const KernelInstruction& test, const KernelInstruction& follows) const {
    return is_comparison(test.op) && follows.op == KernelOp::if_ && follows.inputs[0] == test.result &&
           uses_[test.result] == 1;
  }
  /// @return the jump that is taken if it is not so
  std::size_t unless(const KernelInstruction& test) {
    const ScalarOpcode opcode = test.op == KernelOp::eq_int   ? ScalarOpcode::unless_eq_int
                                : test.op == KernelOp::ne_int ? ScalarOpcode::unless_ne_int
                                : test.op == KernelOp::lt_int ? ScalarOpcode::unless_lt_int
                                                              : ScalarOpcode::unless_le_int;
    return put(opcode, 0, words_[test.inputs[0]], words_[test.inputs[1]]);
  }
  void branch(const KernelInstruction& in, std::size_t otherwise) {
    const KernelBranch& branch = kernel_.branches[in.index];
    block(branch.then_block);
    if (branch.else_block == no_kernel_part) return land(otherwise);
    const std::size_t end = put(ScalarOpcode::jump);
    land(otherwise);
    block(branch.else_block);
    land(end);
  }

  /// All are read before the first is assigned.
  void assign_at_once(const std::vector<KernelRegister>& from, const std::vector<KernelRegister>& to) {
    std::vector<Word> sources, targets;
    for (std::size_t i = 0; i < to.size(); ++i) {
      for (std::size_t part = 0; part < words_of(kernel_.types[to[i]]); ++part) {
        sources.push_back(static_cast<Word>(words_[from[i]] + part));
        targets.push_back(static_cast<Word>(words_[to[i]] + part));
      }
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto later = sources.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (std::find(later, sources.end(), targets[i]) == sources.end()) continue;
      const Word saved = make_words(1);
      move(targets[i], saved);
      std::replace(later, sources.end(), targets[i], saved);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) move(sources[i], targets[i]);
  }

  void loop(const KernelLoop& loop) {
    assign_at_once(loop.initial, loop.variables);
    const std::size_t head = code_.instructions.size();
    block(loop.test_block);
    std::size_t leave = 0;
    if (loop.test_after) {
      block(loop.body_block);
      leave = put(ScalarOpcode::when, 0, words_[loop.condition]);
    } else {
      leave = leave_unless(loop, head);
      block(loop.body_block);
    }
    assign_at_once(loop.next, loop.variables);
    put(ScalarOpcode::jump_back, static_cast<Word>(head));
    land(leave);
  }
  /// @param head  where the test begins
  std::size_t leave_unless(const KernelLoop& loop, std::size_t head) {
    const std::vector<KernelInstruction>& test = kernel_.blocks[loop.test_block];
    const bool is_fused = !test.empty() && code_.instructions.size() > head && test.back().result == loop.condition &&
                          is_comparison(test.back().op) && uses_[loop.condition] == 1;
    if (!is_fused) return put(ScalarOpcode::unless, 0, words_[loop.condition]);
    code_.instructions.pop_back();
    return unless(test.back());
  }

  // ---------------------------------------------------------------- calls

  void call(const KernelCall& call) {
    std::size_t passed = 0;  // behind the frame, whose size is known at the end
    for (const KernelRegister input : call.inputs) {
      if (const KernelInstruction* argument = passed_by_[input]) {
        passed_.push_back(code_.instructions.size());
        compute(*argument, static_cast<Word>(passed++));
        continue;
      }
      for (std::size_t part = 0; part < words_of(kernel_.types[input]); ++part) {
        passed_.push_back(code_.instructions.size());
        put(ScalarOpcode::copy, static_cast<Word>(passed++), static_cast<Word>(words_[input] + part));
      }
    }
    code_.most_passed = std::max(code_.most_passed, static_cast<Word>(passed));
    put(ScalarOpcode::call, static_cast<Word>(code_.calls.size()));
    ScalarCall& site = code_.calls.emplace_back(call.kernel);
    for (const KernelRegister result : call.results) site.results.push_back(words_[result]);
  }

  /// Of two the second may turn out not to be there when the first one has been called.
  void foreign(const KernelForeignCall& call) {
    if (!code_.foreign_calls.empty()) return refuse();
    ScalarForeignCall site{call.function, {}, words_[call.result]};
    for (const KernelRegister input : call.inputs) {
      if (is_array(kernel_.types[input])) return refuse();
      site.arguments.push_back({kernel_.types[input], words_[input]});
    }
    code_.foreign_calls.push_back(std::move(site));
    put(ScalarOpcode::foreign, 0);
  }

  void refuse() { is_refused_ = true; }

  const Kernel& kernel_;
  ScalarCode code_;
  std::size_t frame_words_ = 0;
  std::vector<Word> words_;                          ///< by register: its first word
  std::vector<unsigned> uses_;                       ///< by register
  std::vector<const KernelInstruction*> passed_by_;  ///< by register: see find_arguments; null: none
  std::vector<std::size_t> passed_;                  ///< instructions whose target lies behind the frame
  bool is_refused_ = false;
};

}  // namespace

ScalarCode assemble(const Kernel& kernel) {
  static_assert(static_cast<int>(ScalarOpcode::jump) == static_cast<int>(KernelOp::new_ints));
  return kernel.exists() && kernel.reductions.empty() && !kernel.has_own_arrays() ? Assembler(kernel).run()
                                                                                  : ScalarCode{};
}

}  // namespace raddle::vm
