#pragma once
// The operations of kernel_operations.hpp that compute ints: see Note [operations] there.
#include <cstdint>
#include <limits>

#include "vm/kernel/kernel.hpp"
#include "vm/math/number.hpp"

namespace raddle::vm {

template <class Numbers>
struct KernelIntOperations {
  using N = Numbers;
  using Int = typename N::Int;
  using Mask = typename N::Mask;

  RADDLE_MATH_INLINE static Int add_int(const Int& a, const Int& b, const auto& fail) {
    Int sum;
    fail(N::add_overflows(a, b, sum), KernelFailure::overflow);
    return sum;
  }
  RADDLE_MATH_INLINE static Int sub_int(const Int& a, const Int& b, const auto& fail) {
    Int rest;
    fail(N::sub_overflows(a, b, rest), KernelFailure::overflow);
    return rest;
  }
  RADDLE_MATH_INLINE static Int mul_int(const Int& a, const Int& b, const auto& fail) {
    Int product;
    fail(N::mul_overflows(a, b, product), KernelFailure::overflow);
    return product;
  }
  RADDLE_MATH_INLINE static Int neg_int(const Int& a, const auto& fail) { return sub_int(N::integer(0), a, fail); }
  RADDLE_MATH_INLINE static Int abs_int(const Int& a, const auto& fail) {
    const Mask is_least = N::equal(a, N::integer(least));
    fail(is_least, KernelFailure::overflow);
    Int negative;
    static_cast<void>(N::sub_overflows(N::integer(0), a, negative));
    return N::select(N::less(a, N::integer(0)), negative, a);
  }
  RADDLE_MATH_INLINE static Int idiv(const Int& a, const Int& b, const auto& fail) {
    const Mask by_zero = N::equal(b, N::integer(0));
    fail(by_zero, KernelFailure::division);
    const Mask overflows = N::equal(b, N::integer(-1)) & N::equal(a, N::integer(least));
    fail(overflows, KernelFailure::overflow);
    return N::quotient(a, N::select(by_zero | overflows, N::integer(1), b));
  }
  RADDLE_MATH_INLINE static Int mod(const Int& a, const Int& b, const auto& fail) {
    const Mask by_zero = N::equal(b, N::integer(0));
    fail(by_zero, KernelFailure::division);
    return N::remainder(a, N::select(by_zero | N::equal(b, N::integer(-1)), N::integer(1), b));
  }
  RADDLE_MATH_INLINE static Int max_int(const Int& a, const Int& b, const auto&) {
    return N::select(N::less(a, b), b, a);
  }
  RADDLE_MATH_INLINE static Int min_int(const Int& a, const Int& b, const auto&) {
    return N::select(N::less(b, a), b, a);
  }
  RADDLE_MATH_INLINE static Int bit_and(const Int& a, const Int& b, const auto&) {
    return N::int_of(N::word_of(a) & N::word_of(b));
  }
  RADDLE_MATH_INLINE static Int bit_or(const Int& a, const Int& b, const auto&) {
    return N::int_of(N::word_of(a) | N::word_of(b));
  }
  RADDLE_MATH_INLINE static Int bit_xor(const Int& a, const Int& b, const auto&) {
    return N::int_of(N::word_of(a) ^ N::word_of(b));
  }
  RADDLE_MATH_INLINE static Int shift(const Int& a, const Int& places, const auto& fail) {
    const Mask is_right = N::less(places, N::integer(0));
    Int opposite;
    static_cast<void>(N::sub_overflows(N::integer(0), places, opposite));
    const Int count = N::select(is_right, opposite, places);
    fail(N::less(count, N::integer(0)) | N::less(N::integer(63), count), KernelFailure::domain);
    const Int left = shifted_left(a, count);
    fail(!(is_right | N::equal(shifted_right(left, count), a)), KernelFailure::domain);
    return N::select(is_right, shifted_right(a, count), left);
  }
  /// By 0 to 63 places, as the bits of `count` say: number types shift by constants only.
  RADDLE_MATH_INLINE static Int shifted_left(Int a, const Int& count) {
    for (int bit = 0; bit < 6; ++bit) {
      const Mask stays = N::equal(bit_and(count, N::integer(1LL << bit), nullptr), N::integer(0));
      a = N::select(stays, a, N::int_of(N::word_of(a) << (1 << bit)));
    }
    return a;
  }
  /// What comes from the left is the sign.
  RADDLE_MATH_INLINE static Int shifted_right(const Int& a, const Int& count) {
    const Int sign = N::select(N::less(a, N::integer(0)), N::integer(-1), N::integer(0));
    Int size = bit_xor(a, sign, nullptr);
    for (int bit = 0; bit < 6; ++bit) {
      const Mask stays = N::equal(bit_and(count, N::integer(1LL << bit), nullptr), N::integer(0));
      size = N::select(stays, size, N::int_of(N::word_of(size) >> (1 << bit)));
    }
    return bit_xor(size, sign, nullptr);
  }
  RADDLE_MATH_INLINE static Int choose_int(const Mask& condition, const Int& yes, const Int& no, const auto&) {
    return N::select(condition, yes, no);
  }

 private:
  static constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
};

}  // namespace raddle::vm
