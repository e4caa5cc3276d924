#include "vm/kernel/scalar_machine.hpp"

#include <algorithm>

#include "vm/kernel/leaf_arguments.hpp"
#include "vm/kernel/scalar_operations.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t most_registers = std::size_t{1} << 23;  ///< 64 MiB: deeper calls lie in frames
constexpr unsigned turns = 10'000;                            ///< calls and iterations before it looks up

/// Mostly too few for memcpy. @param registers  of a call of `code`
void set_constants(const ScalarCode& code, std::int64_t* registers) {
  std::int64_t* to = registers + code.parameter_words;
  for (const std::int64_t constant : code.constants) *to++ = constant;
}

}  // namespace

void ScalarMachine::start(FunctionId leaf, std::span<const std::int64_t> arguments) {
  const ScalarCode& code = program_.functions[leaf].scalar_code;
  running_ = base_ = 0;
  make_room(std::size_t{code.frame_words} + code.most_passed);
  std::ranges::copy(arguments, registers_.begin());
  set_constants(code, registers_.data());
  open_[0] = {&code, code.instructions.data(), nullptr};
}

/// For registers up to number `words`, and for another call. @return false: that would be too much
bool ScalarMachine::make_room(std::size_t words) {
  if (words > most_registers) return false;
  if (words > registers_.size()) registers_.resize(std::max(words, registers_.size() * 2));
  if (running_ + 1 >= open_.size()) open_.resize(std::max<std::size_t>(16, open_.size() * 2));
  return true;
}

bool ScalarMachine::call_foreign(const ScalarForeignCall& site, std::int64_t* registers) {
  arguments_.clear();
  for (const ScalarForeignCall::Argument& argument : site.arguments)
    arguments_.push_back(decode(registers[argument.word], kind_of(argument.type)));
  Value result;
  if (!foreigns_[program_.functions[site.function].foreign]->call(arguments_, {&result, 1}).empty()) return false;
  registers[site.result] = word_of(result);
  return true;
}

ScalarMachine::Outcome ScalarMachine::advance(std::int64_t* results) {
  using enum ScalarOpcode;
  OpenCall* open = open_.data() + running_;
  const ScalarCode* code = open->code;
  const ScalarInstruction* next = open->next;
  std::int64_t* r = registers_.data() + base_;
  const std::int64_t* registers_end = registers_.data() + registers_.size();
  const OpenCall* open_end = open_.data() + open_.size();
  unsigned left = turns;
  const auto leave = [&] {
    running_ = static_cast<std::size_t>(open - open_.data());
    base_ = static_cast<std::size_t>(r - registers_.data());
  };
  const auto stop = [&] {
    open->next = next;
    leave();
    return Outcome::stopped;
  };
  for (;;) {
    const ScalarInstruction in = *next++;
    switch (in.opcode) {
#define RADDLE_KERNEL_OP(name, inputs, result, failure)                                                            \
  case name:                                                                                                       \
    if (!scalar::compute<scalar::letter(inputs, 0), scalar::letter(inputs, 1), scalar::letter(inputs, 2), result>( \
            r + in.b, r + in.c, sizeof(inputs) > 3 ? r + next++->a : nullptr, r + in.a,                            \
            [](const auto&... operands)                                                                            \
                __attribute__((always_inline)) { return scalar::Operations::name(operands...); }))                 \
      return Outcome::failed;                                                                                      \
    break;
#include "vm/kernel/kernel_ops.def"
      case jump: next = code->instructions.data() + in.a; break;
      case jump_back:
        next = code->instructions.data() + in.a;
        if (--left == 0) return stop();
        break;
      case unless:
        if (r[in.b] == 0) next = code->instructions.data() + in.a;
        break;
      case when:
        if (r[in.b] != 0) next = code->instructions.data() + in.a;
        break;
      case unless_eq_int:
        if (r[in.b] != r[in.c]) next = code->instructions.data() + in.a;
        break;
      case unless_ne_int:
        if (r[in.b] == r[in.c]) next = code->instructions.data() + in.a;
        break;
      case unless_lt_int:
        if (r[in.b] >= r[in.c]) next = code->instructions.data() + in.a;
        break;
      case unless_le_int:
        if (r[in.b] > r[in.c]) next = code->instructions.data() + in.a;
        break;
      case call: {
        const ScalarCall& site = code->calls[in.a];
        const ScalarCode& callee = program_.functions[site.kernel].scalar_code;
        open->next = next;
        r += code->frame_words;
        const std::size_t words = std::size_t{callee.frame_words} + callee.most_passed;
        if (static_cast<std::size_t>(registers_end - r) < words || open + 1 == open_end) {
          leave();
          if (!make_room(base_ + words)) return Outcome::failed;
          open = open_.data() + running_;
          r = registers_.data() + base_;
          registers_end = registers_.data() + registers_.size();
          open_end = open_.data() + open_.size();
        }
        set_constants(callee, r);
        code = &callee;
        next = callee.instructions.data();
        *++open = {code, next, &site};
        if (--left == 0) return stop();
        break;
      }
      case foreign:
        if (!call_foreign(code->foreign_calls[in.a], r)) return Outcome::failed;
        break;
      case end: {
        const std::int64_t* const from = r;
        const std::vector<std::uint16_t>& outputs = code->outputs;
        const ScalarCall* const site = open->site;
        if (!site) {
          for (std::size_t i = 0; i < outputs.size(); ++i) results[i] = from[outputs[i]];
          return Outcome::done;
        }
        --open;
        code = open->code;
        next = open->next;
        r -= code->frame_words;
        for (std::size_t i = 0; i < outputs.size(); ++i) r[site->results[i]] = from[outputs[i]];
        break;
      }
    }
  }
}

}  // namespace raddle::vm
