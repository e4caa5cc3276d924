#include "vm/kernel/leaf_machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "vm/kernel/leaf_arguments.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::vm {

namespace {

constexpr std::size_t most_registers = std::size_t{1} << 23;  ///< 64 MiB: deeper calls lie in frames
constexpr unsigned turns = 10'000;                            ///< calls and iterations before it looks up

double as_float(std::int64_t bits) { return std::bit_cast<double>(bits); }
std::int64_t as_bits(double number) { return std::bit_cast<std::int64_t>(number); }

/// Mostly too few for memcpy. @param registers  of a call of `code`
void set_constants(const LeafCode& code, std::int64_t* registers) {
  std::int64_t* to = registers + code.parameter_words;
  for (const std::int64_t constant : code.constants) *to++ = constant;
}

template <typename T>
bool load(const std::int64_t* array, std::int64_t index, T& value) {
  if (static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(array[1])) return false;
  value = reinterpret_cast<const T*>(array[0])[index];
  return true;
}

}  // namespace

void LeafMachine::start(FunctionId leaf, std::span<const std::int64_t> arguments) {
  const LeafCode& code = program_.functions[leaf].leaf_code;
  running_ = base_ = 0;
  make_room(std::size_t{code.frame_words} + code.most_passed);
  std::ranges::copy(arguments, registers_.begin());
  set_constants(code, registers_.data());
  open_[0] = {&code, code.instructions.data(), nullptr};
}

/// For registers up to number `words`, and for another call. @return false: that would be too much
bool LeafMachine::make_room(std::size_t words) {
  if (words > most_registers) return false;
  if (words > registers_.size()) registers_.resize(std::max(words, registers_.size() * 2));
  if (running_ + 1 >= open_.size()) open_.resize(std::max<std::size_t>(16, open_.size() * 2));
  return true;
}

bool LeafMachine::call_library(const LeafLibraryCode& site, std::int64_t* registers) {
  arguments_.clear();
  for (const LeafLibraryCode::Argument& argument : site.arguments)
    arguments_.push_back(argument.kind == ValueKind::string ? argument.constant
                                                            : decode(registers[argument.word], argument.kind));
  Value result;
  if (!site.function({settings_, 0}, arguments_, {&result, 1})) return false;
  if (site.has_result) registers[site.result] = word_of(result);
  return true;
}

bool LeafMachine::call_foreign(const LeafForeignCode& site, std::int64_t* registers) {
  arguments_.clear();
  for (const LeafForeignCode::Argument& argument : site.arguments)
    arguments_.push_back(decode(registers[argument.word], argument.kind));
  Value result;
  if (!foreigns_[program_.functions[site.function].foreign]->call(arguments_, {&result, 1}).empty()) return false;
  registers[site.result] = word_of(result);
  return true;
}

LeafMachine::Outcome LeafMachine::advance(std::int64_t* results) {
  using enum LeafOpcode;
  OpenCall* open = open_.data() + running_;
  const LeafCode* code = open->code;
  const LeafInstruction* next = open->next;
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
    const LeafInstruction in = *next++;
    switch (in.opcode) {
      case add_int:
        if (__builtin_add_overflow(r[in.b], r[in.c], &r[in.a])) return Outcome::failed;
        break;
      case sub_int:
        if (__builtin_sub_overflow(r[in.b], r[in.c], &r[in.a])) return Outcome::failed;
        break;
      case mul_int:
        if (__builtin_mul_overflow(r[in.b], r[in.c], &r[in.a])) return Outcome::failed;
        break;
      case idiv:
      case mod: {
        const std::int64_t dividend = r[in.b], divisor = r[in.c];
        const bool overflows = divisor == -1 && dividend == std::numeric_limits<std::int64_t>::min();
        if (divisor == 0 || (overflows && in.opcode == idiv)) return Outcome::failed;
        r[in.a] = in.opcode == idiv ? dividend / divisor : overflows ? 0 : dividend % divisor;
        break;
      }
      case add_float: r[in.a] = as_bits(as_float(r[in.b]) + as_float(r[in.c])); break;
      case sub_float: r[in.a] = as_bits(as_float(r[in.b]) - as_float(r[in.c])); break;
      case mul_float: r[in.a] = as_bits(as_float(r[in.b]) * as_float(r[in.c])); break;
      case div_float: r[in.a] = as_bits(as_float(r[in.b]) / as_float(r[in.c])); break;
      case pow_float: r[in.a] = as_bits(math::scalar::pow(as_float(r[in.b]), as_float(r[in.c]))); break;
      case eq_int: r[in.a] = r[in.b] == r[in.c]; break;
      case ne_int: r[in.a] = r[in.b] != r[in.c]; break;
      case lt_int: r[in.a] = r[in.b] < r[in.c]; break;
      case le_int: r[in.a] = r[in.b] <= r[in.c]; break;
      case eq_float: r[in.a] = as_float(r[in.b]) == as_float(r[in.c]); break;
      case ne_float: r[in.a] = as_float(r[in.b]) != as_float(r[in.c]); break;
      case lt_float: r[in.a] = as_float(r[in.b]) < as_float(r[in.c]); break;
      case le_float: r[in.a] = as_float(r[in.b]) <= as_float(r[in.c]); break;
      case and_: r[in.a] = r[in.b] & r[in.c]; break;
      case or_: r[in.a] = r[in.b] | r[in.c]; break;
      case get_int:
      case get_float:  // as bits
        if (!load(r + in.b, r[in.c], r[in.a])) return Outcome::failed;
        break;
      case get_boolean: {
        std::uint8_t truth;
        if (!load(r + in.b, r[in.c], truth)) return Outcome::failed;
        r[in.a] = truth != 0;
        break;
      }
      case move: r[in.a] = r[in.b]; break;
      case int_to_float: r[in.a] = as_bits(static_cast<double>(r[in.b])); break;
      case neg_int:
        if (__builtin_sub_overflow(std::int64_t{0}, r[in.b], &r[in.a])) return Outcome::failed;
        break;
      case neg_float: r[in.a] = as_bits(-as_float(r[in.b])); break;
      case not_: r[in.a] = r[in.b] == 0; break;
      case mul_add: r[in.a] = as_bits(std::fma(as_float(r[in.b]), as_float(r[in.c]), as_float(r[next++->a]))); break;
      case mul_sub: r[in.a] = as_bits(std::fma(as_float(r[in.b]), as_float(r[in.c]), -as_float(r[next++->a]))); break;
      case sub_mul: r[in.a] = as_bits(std::fma(-as_float(r[in.b]), as_float(r[in.c]), as_float(r[next++->a]))); break;
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
      case unless_lt_int:
        if (r[in.b] >= r[in.c]) next = code->instructions.data() + in.a;
        break;
      case unless_le_int:
        if (r[in.b] > r[in.c]) next = code->instructions.data() + in.a;
        break;
      case call: {
        const LeafCallCode& site = code->calls[in.a];
        const LeafCode& callee = program_.functions[site.function].leaf_code;
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
      case library:
        if (!call_library(code->library[in.a], r)) return Outcome::failed;
        break;
      case foreign:
        if (!call_foreign(code->foreign[in.a], r)) return Outcome::failed;
        break;
      case end: {
        const std::int64_t* const from = r;
        const std::vector<std::uint16_t>& outputs = code->outputs;
        const LeafCallCode* const site = open->site;
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
