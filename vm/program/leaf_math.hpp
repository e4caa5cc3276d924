#pragma once
// Math functions that libm does not have as we want them; interpreted and compiled calls share them.
#include <cmath>

namespace raddle::vm {

/// glibc's cbrt(27.0) is 3.0000000000000004: a Newton step mends the last bit of cubes.
inline double cube_root(double x) {
  const double root = std::cbrt(x);
  const double square = root * root;
  if (square == 0.0 || !std::isfinite(square * root)) return root;
  return root - (square * root - x) / (3.0 * square);
}

}  // namespace raddle::vm
