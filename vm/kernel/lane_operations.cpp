#include "vm/kernel/lane_operations.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "vm/kernel/kernel_lanes.hpp"

// Eight lanes are a vector, of which a processor takes as much at once as it can: the version for it is chosen when the
// tool starts. All give the same bits, as a*b + c is nowhere contracted (CMakeLists.txt).
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RADDLE_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define RADDLE_FOR_EACH_PROCESSOR  // sanitizers are not ready yet when the version would be chosen
#endif

namespace raddle::vm {

namespace {

static_assert(lanes_of_vector == math::lane_count);
using Operations = KernelOperations<KernelLanes>;
using Mask = KernelLanes::Mask;

enum class Done : std::uint8_t { well, failed, elsewhere };

RADDLE_MATH_INLINE Mask mask_at(const LaneWord* mask, std::size_t vector) {
  return {*reinterpret_cast<const Mask::Bits*>(mask + vector * lanes_of_vector)};
}
RADDLE_MATH_INLINE void put(LaneWord* lanes, std::size_t vector, const Mask& mask) {
  *reinterpret_cast<Mask::Bits*>(lanes + vector * lanes_of_vector) = mask.bits;
}
RADDLE_MATH_INLINE void put(LaneWord* lanes, std::size_t vector, const LaneInts& ints) {
  *reinterpret_cast<LaneInts::Words*>(lanes + vector * lanes_of_vector) = ints.words;
}
RADDLE_MATH_INLINE void put(LaneWord* lanes, std::size_t vector, const math::Lanes& floats) {
  *reinterpret_cast<math::Lanes::Numbers*>(lanes + vector * lanes_of_vector) = floats.numbers;
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
      return math::Lanes(*reinterpret_cast<const math::Lanes::Numbers*>(word));
    else if constexpr (letter == 'b')
      return Mask{*reinterpret_cast<const Mask::Bits*>(word)};
    else
      return LaneInts{*reinterpret_cast<const LaneInts::Words*>(word)};
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

RADDLE_MATH_INLINE void join(const LaneView& view, const LaneWord* from, std::uint8_t from_stride, LaneWord* to) {
  for (std::size_t i = view.begin; i < view.end; ++i)
    put(to, i,
        KernelLanes::select(mask_at(view.active, i), LaneInts{(LaneInts::Words)mask_at(from, i * from_stride).bits},
                            LaneInts{(LaneInts::Words)mask_at(to, i).bits}));
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
    Mask faults{Mask::Bits{}};
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

}  // namespace

RADDLE_FOR_EACH_PROCESSOR const KernelInstruction* run_operations(const KernelInstruction* next,
                                                                  const KernelInstruction* end, const LaneView& view) {
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

RADDLE_FOR_EACH_PROCESSOR void join_lanes(const LaneView& view, KernelRegister from, KernelRegister to) {
  if (view.strides[to] == 0) spread_lanes(view, to);
  join(view, view.lanes(from), view.strides[from], view.lanes(to));
}

RADDLE_FOR_EACH_PROCESSOR void copy_lanes(const LaneView& view, const LaneWord* from, std::uint8_t from_stride,
                                          LaneWord* to) {
  for (std::size_t i = view.begin; i < view.end; ++i) put(to, i, mask_at(from, i * from_stride));
}

RADDLE_FOR_EACH_PROCESSOR void spread_lanes(const LaneView& view, KernelRegister id) {
  LaneWord* const lanes = view.lanes(id);
  const Mask value = mask_at(lanes, 0);
  for (std::size_t i = 1; i < lanes_of_register / lanes_of_vector; ++i) put(lanes, i, value);
  view.strides[id] = 1;
}

RADDLE_FOR_EACH_PROCESSOR LaneSplit split_lanes(const LaneView& view, const LaneWord* condition, LaneWord* yes,
                                                LaneWord* no) {
  LaneSplit split{view.end, view.begin, view.end, view.begin};
  for (std::size_t i = view.begin; i < view.end; ++i) {
    const Mask test = mask_at(condition, i);
    const Mask active = view.active != nullptr ? mask_at(view.active, i) : Mask{~Mask::Bits{}};
    const Mask is_yes = test & active, is_no = (!test) & active;
    put(yes, i, is_yes);
    put(no, i, is_no);
    if (KernelLanes::any(is_yes)) {
      split.yes_begin = std::min(split.yes_begin, i);
      split.yes_end = i + 1;
    }
    if (KernelLanes::any(is_no)) {
      split.no_begin = std::min(split.no_begin, i);
      split.no_end = i + 1;
    }
  }
  return split;
}

RADDLE_FOR_EACH_PROCESSOR bool has_new_nan(const LaneView& view, const LaneWord* x, const LaneWord* y,
                                           const LaneWord* result) {
  Mask faults{Mask::Bits{}};
  const auto numbers = [](const LaneWord* lanes, std::size_t i) {
    return math::Lanes((math::Lanes::Numbers)mask_at(lanes, i).bits);
  };
  for (std::size_t i = view.begin; i < view.end; ++i) {
    const auto fail = [&](const Mask& fails, KernelFailure) __attribute__((always_inline)) {
      faults = faults | (view.active != nullptr ? fails & mask_at(view.active, i) : fails);
    };
    Operations::check_domain(numbers(x, i), numbers(y, i), numbers(result, i), fail);
  }
  return KernelLanes::any(faults);
}

}  // namespace raddle::vm
