#include "vm/kernel/lane_machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>

#include "vm/kernel/leaf_arguments.hpp"
#include "vm/math/lane_functions.hpp"

namespace raddle::vm {

namespace {

// Eight lanes are a vector, of which a processor takes as much at once as it can: the version for it is chosen when the
// tool starts. All give the same bits, as a*b + c is nowhere contracted (CMakeLists.txt).
constexpr std::size_t vector_size = 8;
typedef std::int64_t Ints __attribute__((vector_size(vector_size * 8), may_alias));
typedef std::uint64_t Words __attribute__((vector_size(vector_size * 8), may_alias));
typedef double Floats __attribute__((vector_size(vector_size * 8), may_alias));
typedef double Float __attribute__((may_alias));  // a register has numbers of any kind

#define RADDLE_INLINE __attribute__((always_inline)) inline  // into the version for each processor
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define RADDLE_FOR_EACH_PROCESSOR  // sanitizers are not ready yet when the version would be chosen
#endif

/// The registers of an instruction, and how many vectors of them have points.
struct Lanes {
  std::int64_t* registers;
  std::size_t vectors;
  std::size_t count() const { return vectors * vector_size; }
  std::int64_t* numbers(std::size_t word) const { return registers + word * LaneMachine::most_points; }
  Float* reals(std::size_t word) const { return reinterpret_cast<Float*>(numbers(word)); }
  Ints* ints(std::size_t word) const { return reinterpret_cast<Ints*>(numbers(word)); }
  Words* words(std::size_t word) const { return reinterpret_cast<Words*>(ints(word)); }
  Floats* floats(std::size_t word) const { return reinterpret_cast<Floats*>(ints(word)); }
};

RADDLE_INLINE bool any(const Words& bits) {
  std::uint64_t all = 0;
  for (std::size_t lane = 0; lane < vector_size; ++lane) all |= bits[lane];
  return all != 0;
}

constexpr std::uint64_t sign = std::uint64_t{1} << 63;

/// @param compute     (a, b): what an operation gives if nothing overflows
/// @param overflowed  (a, b, result): in the sign bit
template <typename Compute, typename Overflowed>
RADDLE_INLINE bool ints(const Lanes& lanes, LeafInstruction in, const Compute& compute, const Overflowed& overflowed) {
  const Words *b = lanes.words(in.b), *c = lanes.words(in.c);
  Words* a = lanes.words(in.a);
  Words faults{};
  for (std::size_t i = 0; i < lanes.vectors; ++i) {
    const Words left = b[i], right = c[i], result = compute(left, right);
    faults |= overflowed(left, right, result);
    a[i] = result;
  }
  return !any(faults & sign);
}

/// All are of 32 bits and, so that none of their quotients is not, above the least such number.
RADDLE_INLINE bool are_narrow(const Lanes& lanes, std::size_t word) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  const Words* numbers = lanes.words(word);
  Words wide{};
  for (std::size_t i = 0; i < lanes.vectors; ++i) wide |= (numbers[i] + most) > 2 * most ? ~Words{} : Words{};
  return !any(wide);
}

RADDLE_INLINE bool multiply(const Lanes& lanes, LeafInstruction in) {
  if (are_narrow(lanes, in.b) && are_narrow(lanes, in.c)) {
    return ints(
        lanes, in, [](const Words& b, const Words& c) { return b * c; },
        [](const Words&, const Words&, const Words&) { return Words{}; });
  }
  const std::int64_t *b = lanes.numbers(in.b), *c = lanes.numbers(in.c);
  std::int64_t* a = lanes.numbers(in.a);
  bool overflows = false;
  for (std::size_t i = 0; i < lanes.count(); ++i) overflows |= __builtin_mul_overflow(b[i], c[i], a + i);
  return !overflows;
}

/// Of narrow numbers by narrow ones: quotients of doubles, rounded to the next whole number, then mended, as ints are
/// cut off. That is exact, and no processor divides many ints at once.
RADDLE_INLINE Words quotient(const Words& dividend, const Words& divisor) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: added to a whole number it puts it into the lowest bits
  const Words shift_bits = Words{} + std::bit_cast<std::uint64_t>(shift);
  const auto as_floats = [&](const Words& ints) { return (Floats)(ints + shift_bits) - shift; };
  const Words rounded = (Words)(as_floats(dividend) / as_floats(divisor) + shift) - shift_bits;
  const Words rest = dividend - rounded * divisor;
  const Words is_beyond = (Words)((Ints)(rest ^ dividend) < 0) & (Words)(rest != 0);
  const Words direction = (Words)((Ints)(dividend ^ divisor) >> 63) | 1;  // of the quotient: 1 or -1
  return rounded - (is_beyond & direction);
}

RADDLE_INLINE bool divide(const Lanes& lanes, LeafInstruction in) {
  const bool is_quotient = in.opcode == LeafOpcode::idiv;
  const Words *b = lanes.words(in.b), *c = lanes.words(in.c);
  Words* a = lanes.words(in.a);
  Words zeros{};
  for (std::size_t i = 0; i < lanes.vectors; ++i) zeros |= (Words)(c[i] == 0);
  if (any(zeros)) return false;
  if (are_narrow(lanes, in.b) && are_narrow(lanes, in.c)) {
    for (std::size_t i = 0; i < lanes.vectors; ++i) {
      const Words dividend = b[i], divisor = c[i], whole = quotient(dividend, divisor);
      a[i] = is_quotient ? whole : dividend - whole * divisor;
    }
    return true;
  }
  for (std::size_t i = 0; i < lanes.count(); ++i) {
    const std::int64_t dividend = lanes.numbers(in.b)[i], divisor = lanes.numbers(in.c)[i];
    const bool overflows = divisor == -1 && dividend == std::numeric_limits<std::int64_t>::min();
    if (overflows && is_quotient) return false;
    lanes.numbers(in.a)[i] = is_quotient ? dividend / divisor : overflows ? 0 : dividend % divisor;
  }
  return true;
}

template <typename Compute>
RADDLE_INLINE void floats(const Lanes& lanes, LeafInstruction in, const Compute& compute) {
  const Floats *b = lanes.floats(in.b), *c = lanes.floats(in.c);
  Floats* a = lanes.floats(in.a);
  for (std::size_t i = 0; i < lanes.vectors; ++i) a[i] = compute(b[i], c[i]);
}

/// Number by number.
template <typename Compute>
RADDLE_INLINE void each_float(const Lanes& lanes, LeafInstruction in, std::size_t last, const Compute& compute) {
  const Float *b = lanes.reals(in.b), *c = lanes.reals(in.c), *d = lanes.reals(last);
  Float* a = lanes.reals(in.a);
  for (std::size_t i = 0; i < lanes.count(); ++i) a[i] = compute(b[i], c[i], d[i]);
}

template <typename Numbers, typename Compare>
RADDLE_INLINE void compare(const Lanes& lanes, LeafInstruction in, const Compare& is_so) {
  const auto *b = reinterpret_cast<const Numbers*>(lanes.ints(in.b)),
             *c = reinterpret_cast<const Numbers*>(lanes.ints(in.c));
  Words* a = lanes.words(in.a);
  for (std::size_t i = 0; i < lanes.vectors; ++i) a[i] = (Words)is_so(b[i], c[i]) & 1;
}

/// An array is the same for all points.
template <typename T>
RADDLE_INLINE bool get(const Lanes& lanes, LeafInstruction in) {
  const auto count = static_cast<std::uint64_t>(lanes.numbers(in.b + std::size_t{1})[0]);
  const T* elements = reinterpret_cast<const T*>(lanes.numbers(in.b)[0]);
  const Words* indices = lanes.words(in.c);
  Words outside{};
  for (std::size_t i = 0; i < lanes.vectors; ++i) outside |= (Words)(indices[i] >= count);
  if (any(outside)) return false;
  std::int64_t* a = lanes.numbers(in.a);
  for (std::size_t i = 0; i < lanes.count(); ++i) {
    const T element = elements[lanes.numbers(in.c)[i]];
    a[i] = sizeof element == 1 ? element != 0 : static_cast<std::int64_t>(element);
  }
  return true;
}

/// Whether there is no number somewhere though all arguments are some.
RADDLE_FOR_EACH_PROCESSOR bool has_new_nan(const Floats* x, const Floats* y, const Floats* results,
                                           std::size_t vectors) {
  Words faults{};
  for (std::size_t i = 0; i < vectors; ++i)
    faults |= (Words)(results[i] != results[i]) & (Words)(x[i] == x[i]) & (Words)(y[i] == y[i]);
  return any(faults);
}

enum class Stop : std::uint8_t { end, library, failed };

/// Runs instructions from `next` on. @return why it has stopped; `next` is behind the instruction then
RADDLE_FOR_EACH_PROCESSOR Stop run_instructions(const LeafInstruction*& next, std::int64_t* registers,
                                                std::size_t vectors) {
  using enum LeafOpcode;
  const Lanes lanes{registers, vectors};
  for (;;) {
    const LeafInstruction in = *next++;
    bool is_well = true;
    switch (in.opcode) {
      case add_int:
        is_well = ints(
            lanes, in, [](const Words& b, const Words& c) { return b + c; },
            [](const Words& b, const Words& c, const Words& sum) { return (b ^ sum) & (c ^ sum); });
        break;
      case sub_int:
        is_well = ints(
            lanes, in, [](const Words& b, const Words& c) { return b - c; },
            [](const Words& b, const Words& c, const Words& rest) { return (b ^ c) & (b ^ rest); });
        break;
      case neg_int:
        is_well = ints(
            lanes, in, [](const Words& b, const Words&) { return -b; },
            [](const Words& b, const Words&, const Words& negative) { return b & negative; });
        break;
      case mul_int: is_well = multiply(lanes, in); break;
      case idiv:
      case mod: is_well = divide(lanes, in); break;
      case add_float: floats(lanes, in, [](const Floats& b, const Floats& c) { return b + c; }); break;
      case sub_float: floats(lanes, in, [](const Floats& b, const Floats& c) { return b - c; }); break;
      case mul_float: floats(lanes, in, [](const Floats& b, const Floats& c) { return b * c; }); break;
      case div_float: floats(lanes, in, [](const Floats& b, const Floats& c) { return b / c; }); break;
      case neg_float: floats(lanes, in, [](const Floats& b, const Floats&) { return -b; }); break;
      case pow_float:
        math::of_lanes::pow(lanes.reals(in.b), lanes.reals(in.c), lanes.reals(in.a), lanes.count());
        break;
      case mul_add:
        each_float(lanes, in, next++->a, [](double b, double c, double d) { return std::fma(b, c, d); });
        break;
      case mul_sub:
        each_float(lanes, in, next++->a, [](double b, double c, double d) { return std::fma(b, c, -d); });
        break;
      case sub_mul:
        each_float(lanes, in, next++->a, [](double b, double c, double d) { return std::fma(-b, c, d); });
        break;
      case eq_int: compare<Ints>(lanes, in, [](const Ints& b, const Ints& c) { return b == c; }); break;
      case ne_int: compare<Ints>(lanes, in, [](const Ints& b, const Ints& c) { return b != c; }); break;
      case lt_int: compare<Ints>(lanes, in, [](const Ints& b, const Ints& c) { return b < c; }); break;
      case le_int: compare<Ints>(lanes, in, [](const Ints& b, const Ints& c) { return b <= c; }); break;
      case eq_float: compare<Floats>(lanes, in, [](const Floats& b, const Floats& c) { return b == c; }); break;
      case ne_float: compare<Floats>(lanes, in, [](const Floats& b, const Floats& c) { return b != c; }); break;
      case lt_float: compare<Floats>(lanes, in, [](const Floats& b, const Floats& c) { return b < c; }); break;
      case le_float: compare<Floats>(lanes, in, [](const Floats& b, const Floats& c) { return b <= c; }); break;
      case and_: compare<Words>(lanes, in, [](const Words& b, const Words& c) { return b & c; }); break;
      case or_: compare<Words>(lanes, in, [](const Words& b, const Words& c) { return b | c; }); break;
      case not_: compare<Words>(lanes, in, [](const Words& b, const Words&) { return b == 0; }); break;
      case get_int:
      case get_float: is_well = get<std::int64_t>(lanes, in); break;  // as bits
      case get_boolean: is_well = get<std::uint8_t>(lanes, in); break;
      case move: std::copy_n(lanes.ints(in.b), vectors, lanes.ints(in.a)); break;
      case int_to_float:
        for (std::size_t i = 0; i < vectors; ++i)
          lanes.floats(in.a)[i] = __builtin_convertvector(lanes.ints(in.b)[i], Floats);
        break;
      case library: return Stop::library;
      case end: return Stop::end;
      case jump:
      case jump_back:
      case unless:
      case when:
      case unless_eq_int:
      case unless_lt_int:
      case unless_le_int:
      case call:
      case foreign: return Stop::failed;  // can not be: it has a batch_cost
    }
    if (!is_well) return Stop::failed;
  }
}

}  // namespace

void LaneMachine::prepare(const LeafCode& code, std::span<const std::int64_t> arguments) {
  code_ = &code;
  if (register_count_ < code.frame_words) {
    register_count_ = code.frame_words;
    const std::size_t size_bytes = register_count_ * most_points * sizeof(std::int64_t);
    registers_.reset(static_cast<std::int64_t*>(::operator new[](size_bytes, std::align_val_t{64})));
  }
  for (std::size_t word = 1; word < arguments.size(); ++word) std::fill_n(lanes(word), most_points, arguments[word]);
  for (std::size_t i = 0; i < code.constants.size(); ++i)
    std::fill_n(lanes(code.parameter_words + i), most_points, code.constants[i]);
}

bool LaneMachine::run(std::int64_t first, std::int64_t step, std::int64_t count, std::span<const LeafType> types,
                      std::span<void* const> results) {
  // what fills up the last vector is the last point once more: it ends as well as that one
  const std::size_t vectors = (static_cast<std::size_t>(count) + vector_size - 1) / vector_size;
  for (std::size_t i = 0; i < vectors * vector_size; ++i)
    lanes(0)[i] = first + std::min(static_cast<std::int64_t>(i), count - 1) * step;
  const LeafInstruction* next = code_->instructions.data();
  for (;;) {
    const Stop stop = run_instructions(next, registers_.get(), vectors);
    if (stop == Stop::failed) return false;
    if (stop == Stop::end) break;
    const LeafLibraryCode& site = code_->library[next[-1].a];
    if (!(site.lanes ? call_mathematics(site, vectors) : call_library(site, count))) return false;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::int64_t* const from = lanes(code_->outputs[i]);
    if (types[i] == LeafType::boolean)
      std::transform(from, from + count, static_cast<std::uint8_t*>(results[i]),
                     [](std::int64_t word) { return word != 0; });
    else
      std::copy_n(from, count, static_cast<std::int64_t*>(results[i]));
  }
  return true;
}

bool LaneMachine::call_mathematics(const LeafLibraryCode& site, std::size_t vectors) {
  const Lanes all{registers_.get(), vectors};
  const std::size_t x = site.arguments.front().word, y = site.arguments.back().word;
  site.lanes->compute(all.reals(x), all.reals(y), all.reals(site.result), all.count());
  return !has_new_nan(all.floats(x), all.floats(y), all.floats(site.result), vectors);
}

/// Point by point.
bool LaneMachine::call_library(const LeafLibraryCode& site, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    arguments_.clear();
    for (const LeafLibraryCode::Argument& argument : site.arguments)
      arguments_.push_back(argument.kind == ValueKind::string ? argument.constant
                                                              : decode(lanes(argument.word)[i], argument.kind));
    Value result;
    if (!site.function({settings_, 0}, arguments_, {&result, 1})) return false;
    if (site.has_result) lanes(site.result)[i] = word_of(result);
  }
  if (site.has_result)
    std::fill(lanes(site.result) + count, lanes(site.result) + most_points, lanes(site.result)[count - 1]);
  return true;
}

}  // namespace raddle::vm
