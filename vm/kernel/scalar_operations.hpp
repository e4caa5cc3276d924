#pragma once
// Operations of kernel_ops.def on words as in leaf_abi.hpp.
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "vm/kernel/kernel_scalars.hpp"

namespace raddle::vm::scalar {

using Operations = KernelOperations<KernelScalars>;

/// Of the inputs of an operation; none: behind the last one.
constexpr char letter(std::string_view letters, std::size_t i) { return i < letters.size() ? letters[i] : '\0'; }

template <char letter>
RADDLE_MATH_INLINE auto load(const std::int64_t* word) {
  if constexpr (letter == 'f' || letter == 'g')
    return std::bit_cast<double>(*word);
  else if constexpr (letter == 'b')
    return *word != 0;
  else if constexpr (letter == 'i' || letter == 'n' || letter == 'x')
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

/// Computes what `operation`, one of Operations, says.
/// @param first, second, third, result  letters
/// @param a, b, c  the inputs, as many as there are
/// @return false: it fails
template <char first, char second, char third, char result, typename Operation>
RADDLE_MATH_INLINE bool compute(const std::int64_t* a, const std::int64_t* b, const std::int64_t* c, std::int64_t* to,
                                const Operation& operation) {
  bool has_failed = false;
  const auto fail = [&](bool fails, KernelFailure) __attribute__((always_inline)) { has_failed |= fails; };
  const auto made = [&]() __attribute__((always_inline)) {
    if constexpr (third != '\0')
      return operation(load<first>(a), load<second>(b), load<third>(c), fail);
    else if constexpr (second != '\0')
      return operation(load<first>(a), load<second>(b), fail);
    else
      return operation(load<first>(a), fail);
  };
  if constexpr (result == 'v')
    made();
  else
    *to = word_of_number(made());
  return !has_failed;
}

}  // namespace raddle::vm::scalar
