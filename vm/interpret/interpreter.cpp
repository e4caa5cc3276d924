// The instruction loop: flat, one short case for each opcode. Cases that can fail end in `break` with `ok` false; then
// the rest of the strand looks at its operands before it runs.
#include "vm/interpret/interpreter.hpp"

#include "vm/calls/memo_caller.hpp"
#include "vm/calls/program_caller.hpp"
#include "vm/launch/launcher.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "vm/interpret/run_state.hpp"
#include "vm/interpret/running_place.hpp"
#include "vm/math/scalar.hpp"
#include "vm/value/borrow.hpp"
#include "vm/value/string_limit.hpp"
#include "vm/value/text.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::vm {

Frame* Interpreter::run_region(Frame& frame, RegionId id) {
  const Region region = program_.regions[id];
  const Strand* strand = program_.strands.data() + region.first_strand;
  Frame* next = nullptr;
  for (const Strand* end = strand + region.strand_count; strand != end; ++strand) {
    if (strand->awaited_count != 0 && !await_inputs(frame, *strand, nullptr)) continue;
    if (is_perturbed_ && queue_instead(frame, *strand)) continue;
    next = run_strand(frame, *strand);
  }
  return next;
}

/// By chance: @return true if the strand, all of whose inputs are there, has been queued
bool Interpreter::queue_instead(Frame& frame, const Strand& strand) {
  if (strand.awaited_count == 0 || !worker_->perturbation().one_in(4)) return false;
  StrandState* const state = arm(frame, strand);
  state->followed_rank = here_.followed_rank;
  here_.push(*state);
  return true;
}

namespace {

std::int64_t int_in(Frame& frame, Operand operand) { return static_cast<std::int64_t>(frame.at(operand).peek()); }

double float_in(Frame& frame, Operand operand) {
  const std::uint64_t bits = frame.at(operand).peek();
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
double third_float(Frame& frame, const Instruction& in) { return float_in(frame, Operand::from_bits(in.d)); }

const std::string& text_in(Frame& frame, Operand operand) { return object_in<String>(frame.at(operand)).text; }

std::string scalar_text(Frame& frame, Operand operand) {
  const Future& future = frame.at(operand);
  return future.kind() == ValueKind::string ? object_in<String>(future).text : to_text(future.get());
}

constexpr const char* overflow_text = "integer overflow";
constexpr const char* zero_text = "division by zero";

const Arm& chosen_arm(const BranchSite& site, std::int64_t selector) {
  std::size_t arm = 0;
  while (arm < site.labels.size() && site.labels[arm] != selector) ++arm;
  return site.arms[arm];
}

}  // namespace

bool Interpreter::divide(Frame& frame, const Instruction& in) {
  const std::int64_t dividend = int_in(frame, in.b), divisor = int_in(frame, in.c);
  const bool overflows = divisor == -1 && dividend == std::numeric_limits<std::int64_t>::min();
  if (divisor == 0 || (overflows && in.opcode == Opcode::idiv)) {
    here_.fail(frame, in, divisor == 0 ? zero_text : overflow_text);
    return false;
  }
  if (in.opcode == Opcode::idiv)
    put(frame, in, Value::of(dividend / divisor));
  else
    put(frame, in, Value::of(overflows ? std::int64_t{0} : dividend % divisor));
  return true;
}

bool Interpreter::join_texts(Frame& frame, const Instruction& in) {
  std::string text = scalar_text(frame, in.b);
  if (in.opcode == Opcode::path_join) text += '/';
  const std::string rest = scalar_text(frame, in.c);
  const std::size_t size = text.size() + rest.size();
  if (size > longest_string) {
    here_.fail(frame, in, too_long_text(size));
    return false;
  }
  put(frame, in, Value::of(std::move(text += rest)));
  return true;
}

/// @return the frame to activate next, with a reference of the caller's: after a loop test, the next iteration (perhaps
///         this frame again, then the caller's own reference is meant)
Frame* Interpreter::run_strand(Frame& frame, const Strand& strand) {
  running_place = program_.places.data() + strand.first_instruction;
  const Instruction* next = program_.instructions.data() + strand.first_instruction;
  const Instruction* const end = next + strand.instruction_count;
  bool careful = frame.careful.load(std::memory_order_relaxed);
  for (; next != end; ++next) {
    const Instruction& in = *next;
    if (careful && fails_with_operand(frame, strand, in)) continue;
    bool ok = true;
    const auto put_unless_overflow = [&](auto compute) {
      std::int64_t result;
      if (compute(&result)) return here_.fail(frame, in, overflow_text), false;
      return put(frame, in, Value::of(result)), true;
    };
    switch (in.opcode) {
      case Opcode::copy: put(frame, in, frame.at(in.b).get()); break;
      case Opcode::int_to_float: put(frame, in, Value::of(static_cast<double>(int_in(frame, in.b)))); break;

      case Opcode::add_int:
        ok = put_unless_overflow([&](std::int64_t* result) {
          return __builtin_add_overflow(int_in(frame, in.b), int_in(frame, in.c), result);
        });
        break;
      case Opcode::sub_int:
        ok = put_unless_overflow([&](std::int64_t* result) {
          return __builtin_sub_overflow(int_in(frame, in.b), int_in(frame, in.c), result);
        });
        break;
      case Opcode::mul_int:
        ok = put_unless_overflow([&](std::int64_t* result) {
          return __builtin_mul_overflow(int_in(frame, in.b), int_in(frame, in.c), result);
        });
        break;
      case Opcode::idiv:
      case Opcode::mod: ok = divide(frame, in); break;
      case Opcode::neg_int:
        ok = put_unless_overflow(
            [&](std::int64_t* result) { return __builtin_sub_overflow(std::int64_t{0}, int_in(frame, in.b), result); });
        break;
      case Opcode::add_float: put(frame, in, Value::of(float_in(frame, in.b) + float_in(frame, in.c))); break;
      case Opcode::sub_float: put(frame, in, Value::of(float_in(frame, in.b) - float_in(frame, in.c))); break;
      case Opcode::mul_float: put(frame, in, Value::of(float_in(frame, in.b) * float_in(frame, in.c))); break;
      case Opcode::div_float: put(frame, in, Value::of(float_in(frame, in.b) / float_in(frame, in.c))); break;
      case Opcode::pow_float:
        put(frame, in, Value::of(math::scalar::pow(float_in(frame, in.b), float_in(frame, in.c))));
        break;
      case Opcode::mul_add:
        put(frame, in, Value::of(std::fma(float_in(frame, in.b), float_in(frame, in.c), third_float(frame, in))));
        break;
      case Opcode::mul_sub:
        put(frame, in, Value::of(std::fma(float_in(frame, in.b), float_in(frame, in.c), -third_float(frame, in))));
        break;
      case Opcode::sub_mul:
        put(frame, in, Value::of(std::fma(-float_in(frame, in.b), float_in(frame, in.c), third_float(frame, in))));
        break;
      case Opcode::neg_float: put(frame, in, Value::of(-float_in(frame, in.b))); break;
      case Opcode::not_: put(frame, in, Value::of(int_in(frame, in.b) == 0)); break;
      case Opcode::and_: put(frame, in, Value::of(int_in(frame, in.b) != 0 && int_in(frame, in.c) != 0)); break;
      case Opcode::or_: put(frame, in, Value::of(int_in(frame, in.b) != 0 || int_in(frame, in.c) != 0)); break;

      case Opcode::eq_int: put(frame, in, Value::of(int_in(frame, in.b) == int_in(frame, in.c))); break;
      case Opcode::ne_int: put(frame, in, Value::of(int_in(frame, in.b) != int_in(frame, in.c))); break;
      case Opcode::lt_int: put(frame, in, Value::of(int_in(frame, in.b) < int_in(frame, in.c))); break;
      case Opcode::le_int: put(frame, in, Value::of(int_in(frame, in.b) <= int_in(frame, in.c))); break;
      case Opcode::gt_int: put(frame, in, Value::of(int_in(frame, in.b) > int_in(frame, in.c))); break;
      case Opcode::ge_int: put(frame, in, Value::of(int_in(frame, in.b) >= int_in(frame, in.c))); break;
      case Opcode::eq_float: put(frame, in, Value::of(float_in(frame, in.b) == float_in(frame, in.c))); break;
      case Opcode::ne_float: put(frame, in, Value::of(float_in(frame, in.b) != float_in(frame, in.c))); break;
      case Opcode::lt_float: put(frame, in, Value::of(float_in(frame, in.b) < float_in(frame, in.c))); break;
      case Opcode::le_float: put(frame, in, Value::of(float_in(frame, in.b) <= float_in(frame, in.c))); break;
      case Opcode::gt_float: put(frame, in, Value::of(float_in(frame, in.b) > float_in(frame, in.c))); break;
      case Opcode::ge_float: put(frame, in, Value::of(float_in(frame, in.b) >= float_in(frame, in.c))); break;
      case Opcode::eq_string: put(frame, in, Value::of(text_in(frame, in.b) == text_in(frame, in.c))); break;
      case Opcode::ne_string: put(frame, in, Value::of(text_in(frame, in.b) != text_in(frame, in.c))); break;
      case Opcode::lt_string: put(frame, in, Value::of(text_in(frame, in.b) < text_in(frame, in.c))); break;
      case Opcode::le_string: put(frame, in, Value::of(text_in(frame, in.b) <= text_in(frame, in.c))); break;
      case Opcode::gt_string: put(frame, in, Value::of(text_in(frame, in.b) > text_in(frame, in.c))); break;
      case Opcode::ge_string: put(frame, in, Value::of(text_in(frame, in.b) >= text_in(frame, in.c))); break;

      case Opcode::concat:
      case Opcode::path_join: ok = join_texts(frame, in); break;

      case Opcode::array_new: ok = array_new(frame, in); break;
      case Opcode::array_get: ok = array_get(frame, in); break;
      case Opcode::array_insert: ok = array_insert(frame, in); break;
      case Opcode::array_hold: here_.writers().release(frame, Operand::from_bits(in.d)); break;
      case Opcode::array_row: ok = array_row(frame, in); break;
      case Opcode::array_list: array_list(frame, in); break;
      case Opcode::array_map: ok = array_map(frame, in); break;
      case Opcode::array_range: ok = array_range(frame, in); break;
      case Opcode::bag_new:
        put(frame, in, Value::of_object(ValueKind::bag, make_ref<Bag>(static_cast<std::int32_t>(in.d))));
        break;
      case Opcode::bag_append: bag_append(frame, in); break;
      case Opcode::bag_row: ok = bag_row(frame, in); break;
      case Opcode::struct_new:
        put(frame, in, Value::of_object(ValueKind::structure, make_ref<Structure>(program_.structures[in.d].fields)));
        break;
      case Opcode::struct_make: struct_make(frame, in); break;
      case Opcode::struct_get: struct_get(frame, in); break;
      case Opcode::struct_set: ok = struct_set(frame, in); break;

      case Opcode::file_new: ok = here_.programs().file_new(frame, in); break;
      case Opcode::file_assign: ok = here_.programs().file_assign(frame, in); break;
      case Opcode::update_new:
        put(frame, in, Value::of_object(ValueKind::updateable, make_ref<Updateable>(float_in(frame, in.b))));
        break;
      case Opcode::update_get: put(frame, in, Value::of(object_in<Updateable>(frame.at(in.b)).get())); break;
      case Opcode::update_incr:
      case Opcode::update_min:
      case Opcode::update_scale: {
        const auto mode =
            static_cast<Updateable::Mode>(static_cast<int>(in.opcode) - static_cast<int>(Opcode::update_incr));
        object_in<Updateable>(frame.at(in.b)).update(mode, float_in(frame, in.c));
        put(frame, in, Value::of_void());
        break;
      }

      case Opcode::call: call(frame, in); break;
      case Opcode::call_builtin: ok = call_builtin(frame, in); break;
      case Opcode::run_app: ok = here_.programs().run_app(frame, in); break;
      case Opcode::run_foreign: ok = here_.programs().run_foreign(frame, in); break;
      case Opcode::memo: here_.memos().memo(frame, in); break;
      case Opcode::memo_keep: here_.memos().memo_keep(frame, in); break;
      case Opcode::branch_if: enter_arm(frame, program_.branches[in.d].arms[int_in(frame, in.b) != 0 ? 0 : 1]); break;
      case Opcode::branch_switch: enter_arm(frame, chosen_arm(program_.branches[in.d], int_in(frame, in.b))); break;
      case Opcode::enter: enter_arm(frame, program_.branches[in.d].arms[0]); break;
      case Opcode::attempt: attempt(frame, in); break;
      case Opcode::foreach_range:
      case Opcode::foreach_range_float:
      case Opcode::foreach_array: ok = here_.launcher().foreach (frame, in); break;
      case Opcode::loop: start_loop(frame, in); break;
      case Opcode::loop_test: return loop_test(frame, in);
    }
    if (!ok) careful = true;
  }
  return nullptr;
}

}  // namespace raddle::vm
