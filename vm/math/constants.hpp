// Constants in two parts, of doubles or of floats.
#pragma once
#include "vm/math/number.hpp"
#include "vm/math/tables.hpp"
#include "vm/math/tables32.hpp"

namespace raddle::vm::math {

struct Constant {
  double high, low;
};
template <class F>
inline constexpr Constant pi = Format<F>::size == 64 ? Constant{pi_high, pi_low} : Constant{pi_high32, pi_low32};
template <class F>
inline constexpr Constant half_pi =
    Format<F>::size == 64 ? Constant{half_pi_high, half_pi_low} : Constant{half_pi_high32, half_pi_low32};

}  // namespace raddle::vm::math
