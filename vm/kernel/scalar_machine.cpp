#include "vm/kernel/scalar_machine.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>

#include "vm/kernel/leaf_arguments.hpp"
#include "vm/kernel/kernel_operations.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t most_registers = std::size_t{1} << 23;  ///< 64 MiB: deeper calls lie in frames
constexpr unsigned turns = 10'000;                            ///< calls and iterations before it looks up

/// Mostly too few for memcpy. @param registers  of a call of `code`
void set_constants(const ScalarCode& code, std::int64_t* registers) {
  std::int64_t* to = registers + code.parameter_words;
  for (const std::int64_t constant : code.constants) *to++ = constant;
}

using Operations = KernelOperations<KernelScalars>;

/// An input by its letter in kernel_ops.def.
template <char letter>
RADDLE_MATH_INLINE auto load(const std::int64_t* word) {
  if constexpr (letter == 'f')
    return std::bit_cast<double>(*word);
  else if constexpr (letter == 'b')
    return *word != 0;
  else if constexpr (letter == 'i' || letter == 'x')
    return *word;
  else
    return KernelScalars::Array{word[0], word[1]};
}
template <typename Number>
RADDLE_MATH_INLINE std::int64_t word_of_number(Number number) {
  if constexpr (std::is_same_v<Number, double>)
    return std::bit_cast<std::int64_t>(number);
  else
    return number;
}
constexpr char letter(std::string_view letters, std::size_t i) { return i < letters.size() ? letters[i] : '\0'; }

/// Computes what `operation` says and puts its result into its register. @return false: it fails
template <char first, char second, char third, char result, typename Operation>
RADDLE_MATH_INLINE bool compute(std::int64_t* r, ScalarInstruction in, const ScalarInstruction*& next,
                                const Operation& operation) {
  bool has_failed = false;
  const auto fail = [&](bool fails, KernelFailure) __attribute__((always_inline)) { has_failed |= fails; };
  const auto made = [&]() __attribute__((always_inline)) {
    if constexpr (third != '\0')
      return operation(load<first>(r + in.b), load<second>(r + in.c), load<third>(r + next++->a), fail);
    else if constexpr (second != '\0')
      return operation(load<first>(r + in.b), load<second>(r + in.c), fail);
    else
      return operation(load<first>(r + in.b), fail);
  };
  if constexpr (result == 'v')
    made();
  else
    r[in.a] = word_of_number(made());
  return !has_failed;
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
    if (!compute<letter(inputs, 0), letter(inputs, 1), letter(inputs, 2), result>(                                 \
            r, in, next,                                                                                           \
            [](const auto&... operands) __attribute__((always_inline)) { return Operations::name(operands...); })) \
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
