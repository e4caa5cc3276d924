// Compiled for each processor: Note [for each processor] in vm/math/vector.hpp. All give the same bits, as a*b + c is
// nowhere contracted (CMakeLists.txt).
#include "vm/kernel/lane_operations.hpp"

#include <string_view>
#include <type_traits>

#include "vm/kernel/kernel_lanes.hpp"

namespace raddle::vm {

namespace {

static_assert(lanes_of_vector == math::lane_count);
using Operations = KernelOperations<KernelLanes>;
using Mask = KernelLanes::Mask;

enum class Done : std::uint8_t { well, failed, elsewhere };

RADDLE_MATH_INLINE Mask mask_at(const LaneWord* mask, std::size_t vector) {
  return {Mask::Bits::load(mask + vector * lanes_of_vector)};
}
RADDLE_MATH_INLINE void put(LaneWord* lanes, std::size_t vector, const Mask& mask) {
  mask.bits.store(lanes + vector * lanes_of_vector);
}
RADDLE_MATH_INLINE void put(LaneWord* lanes, std::size_t vector, const LaneInts& ints) {
  ints.words.store(lanes + vector * lanes_of_vector);
}
RADDLE_MATH_INLINE void put(LaneWord* lanes, std::size_t vector, const math::Lanes& floats) {
  floats.numbers.store(lanes + vector * lanes_of_vector);
}

/// An input by its letter in kernel_ops.def.
template <char letter>
struct Input {
  const LaneWord* lanes = nullptr;
  std::size_t stride = 0;
  RADDLE_MATH_INLINE Input(const LaneView& view, KernelRegister id) : lanes(view.lanes(id)), stride(view.strides[id]) {}
  RADDLE_MATH_INLINE auto at(std::size_t vector) const {
    const LaneWord* const word = lanes + vector * stride * lanes_of_vector;
    if constexpr (letter == 'f' || letter == 'g')
      return math::Lanes(math::Lanes::Numbers::load(word));
    else if constexpr (letter == 'b')
      return Mask{Mask::Bits::load(word)};
    else
      return LaneInts{LaneInts::Words::load(word)};
  }
};
template <char letter>
requires(letter == 'I' || letter == 'F' || letter == 'B' || letter == 'N' || letter == 'G' ||
         letter == 'A') struct Input<letter> {
  KernelScalars::Array array;
  std::size_t stride = 0;
  RADDLE_MATH_INLINE Input(const LaneView& view, KernelRegister id) : array(view.arrays[id]) {}
  RADDLE_MATH_INLINE const KernelScalars::Array& at(std::size_t) const { return array; }
};
struct NoInput {
  std::size_t stride = 0;
};

constexpr char letter(std::string_view letters, std::size_t i) { return i < letters.size() ? letters[i] : '\0'; }

void spread_lanes(const LaneView& view, KernelRegister id) {
  LaneWord* const lanes = view.lanes(id);
  const Mask value = mask_at(lanes, 0);
  for (std::size_t i = 1; i < lanes_of_register / lanes_of_vector; ++i) put(lanes, i, value);
  view.strides[id] = 1;
}

RADDLE_MATH_INLINE void join(const LaneView& view, const LaneWord* from, std::uint8_t from_stride, LaneWord* to) {
  for (std::size_t i = view.begin; i < view.end; ++i)
    put(to, i, Mask{select(mask_at(view.active, i).bits, mask_at(from, i * from_stride).bits, mask_at(to, i).bits)});
}

/// Of an operation: all of its lanes, with the inputs `in.inputs` of these letters.
template <KernelOp op, char first, char second, char third, char result, typename Operation>
RADDLE_MATH_INLINE Done compute(const LaneView& view, const KernelInstruction& in, const Operation& operation) {
  if constexpr (is_mathematics(op)) {
    return Done::elsewhere;
  } else {
    const auto input = [&]<char letter>(std::size_t i) __attribute__((always_inline)) {
      if constexpr (letter == '\0')
        return NoInput{};
      else
        return Input<letter>(view, in.inputs[i]);
    };
    const auto a = input.template operator()<first>(0);
    const auto b = input.template operator()<second>(1);
    const auto c = input.template operator()<third>(2);
    const bool is_varying = (a.stride | b.stride | c.stride) != 0;
    const std::size_t begin = is_varying ? view.begin : 0, end = is_varying ? view.end : 1;
    LaneWord* to = nullptr;
    bool joins = false;
    if constexpr (result != 'v') {
      joins = view.active != nullptr && view.is_joined[in.result] != 0;
      to = view.lanes(joins ? view.scratch : in.result);
    }
    Mask faults{};
    for (std::size_t i = begin; i < end; ++i) {
      const auto fail = [&](const Mask& fails, KernelFailure) __attribute__((always_inline)) {
        faults = faults | (is_varying && view.active != nullptr ? fails & mask_at(view.active, i) : fails);
      };
      const auto made = [&]() __attribute__((always_inline)) {
        if constexpr (third != '\0')
          return operation(a.at(i), b.at(i), c.at(i), fail);
        else if constexpr (second != '\0')
          return operation(a.at(i), b.at(i), fail);
        else
          return operation(a.at(i), fail);
      };
      if constexpr (result == 'v')
        made();
      else
        put(to, i, made());
    }
    if (KernelLanes::any(faults)) return Done::failed;
    if constexpr (result != 'v') {
      if (!joins) {
        view.strides[in.result] = is_varying ? 1 : 0;
      } else {
        if (view.strides[in.result] == 0) spread_lanes(view, in.result);
        join(view, to, is_varying ? 1 : 0, view.lanes(in.result));
      }
    }
    return Done::well;
  }
}

const KernelInstruction* run_operations(const KernelInstruction* next, const KernelInstruction* end,
                                        const LaneView& view) {
  for (; next != end; ++next) {
    const KernelInstruction& in = *next;
    Done done = Done::elsewhere;
    switch (in.op) {
#define RADDLE_KERNEL_OP(name, inputs, result, failure)                                                        \
  case KernelOp::name:                                                                                         \
    done = compute<KernelOp::name, letter(inputs, 0), letter(inputs, 1), letter(inputs, 2), result>(           \
        view, in,                                                                                              \
        [](const auto&... operands) __attribute__((always_inline)) { return Operations::name(operands...); }); \
    break;
#include "vm/kernel/kernel_ops.def"
      default: return next;
    }
    if (done == Done::failed) return nullptr;
    if (done == Done::elsewhere) return next;
  }
  return end;
}

void join_lanes(const LaneView& view, KernelRegister from, KernelRegister to) {
  if (view.strides[to] == 0) spread_lanes(view, to);
  join(view, view.lanes(from), view.strides[from], view.lanes(to));
}

void copy_lanes(const LaneView& view, const LaneWord* from, std::uint8_t from_stride, LaneWord* to) {
  for (std::size_t i = view.begin; i < view.end; ++i) put(to, i, mask_at(from, i * from_stride));
}

LaneSplit split_lanes(const LaneView& view, const LaneWord* condition, LaneWord* yes, LaneWord* no) {
  LaneSplit split{view.end, view.begin, view.end, view.begin};
  for (std::size_t i = view.begin; i < view.end; ++i) {
    const Mask test = mask_at(condition, i);
    const Mask active = view.active != nullptr ? mask_at(view.active, i) : Mask{Mask::Bits(-1)};
    const Mask is_yes = test & active, is_no = (!test) & active;
    put(yes, i, is_yes);
    put(no, i, is_no);
    if (KernelLanes::any(is_yes)) {
      if (i < split.yes_begin) split.yes_begin = i;
      split.yes_end = i + 1;
    }
    if (KernelLanes::any(is_no)) {
      if (i < split.no_begin) split.no_begin = i;
      split.no_end = i + 1;
    }
  }
  return split;
}

bool has_new_nan(const LaneView& view, const LaneWord* x, const LaneWord* y, const LaneWord* result) {
  Mask faults{};
  const auto numbers = [](const LaneWord* lanes, std::size_t i) {
    return math::Lanes(math::bits_as<double>(mask_at(lanes, i).bits));
  };
  for (std::size_t i = view.begin; i < view.end; ++i) {
    const auto fail = [&](const Mask& fails, KernelFailure) __attribute__((always_inline)) {
      faults = faults | (view.active != nullptr ? fails & mask_at(view.active, i) : fails);
    };
    Operations::check_domain(numbers(x, i), numbers(y, i), numbers(result, i), fail);
  }
  return KernelLanes::any(faults);
}

}  // namespace

namespace RADDLE_PROCESSOR {
extern const LaneOperations lane_operations;
const LaneOperations lane_operations = {run_operations, join_lanes, copy_lanes, spread_lanes, split_lanes, has_new_nan};
}  // namespace RADDLE_PROCESSOR

}  // namespace raddle::vm
