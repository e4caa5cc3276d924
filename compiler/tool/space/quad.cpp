#include "compiler/tool/space/quad.hpp"

#include <cmath>
#include <cstdlib>

#include "vm/math/scalar.hpp"

namespace raddle::sweep {
namespace {

namespace scalar = vm::math::scalar;

const Quad log_of_2 = static_cast<Quad>(0x1.62e42fefa39efp-1) + 0x1.abc9e3b39803fp-56 + 0x1.7b57a079a1934p-111;

/// 2^exponent times it: a single double does not hold all of these.
Quad scaled(Quad number, int exponent) {
  const int half = exponent / 2;
  return number * std::ldexp(1.0, half) * std::ldexp(1.0, exponent - half);
}

}  // namespace

Quad quad_of(std::int64_t mantissa, long exponent) {
  Quad power = 1, factor = 10;
  for (long left = std::labs(exponent); left != 0; left /= 2) {
    if (left % 2 != 0) power *= factor;
    factor *= factor;
  }
  const Quad whole = static_cast<Quad>(mantissa);
  return exponent < 0 ? whole / power : whole * power;
}

/// e^r - 1 of a small part of it by its series, doubled again and again.
Quad exp(Quad number) {
  constexpr int halvings = 8, terms = 12;  // r^12 / 12! < 2^-120
  const int twos = static_cast<int>(std::lround(static_cast<double>(number / log_of_2)));
  const Quad rest = (number - twos * log_of_2) / (1 << halvings);
  Quad above_one = 0;
  for (int i = terms; i >= 1; --i) above_one = rest / i * (1 + above_one);
  for (int i = 0; i < halvings; ++i) above_one *= 2 + above_one;
  return scaled(1 + above_one, twos);
}

/// One step of Halley's from the logarithm of the nearest float: it triples the bits.
Quad log(Quad number) {
  const Quad near = scalar::log(static_cast<double>(number)), power = exp(near);
  return near + 2 * (number - power) / (number + power);
}

}  // namespace raddle::sweep
