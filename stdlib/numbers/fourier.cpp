// Stockham's passes of 4, 2, 3 and 5 for lengths made of these, and Bluestein's convolution for all others.
#include "stdlib/numbers/fourier.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>
#include <utility>

#include "vm/math/scalar.hpp"

namespace raddle::stdlib::native {
namespace {

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
Complex conjugate(Complex a) { return {a.re, -a.im}; }
Complex times_i(Complex a) { return {-a.im, a.re}; }

/// e^(-2 pi i k / n) for 0 <= k < n, from an angle of at most an eighth of the circle.
Complex root(std::size_t k, std::size_t n) {
  std::size_t angle = 8 * k;  // of 8 n
  const bool is_below = angle > 4 * n;
  if (is_below) angle = 8 * n - angle;
  const bool is_left = angle > 2 * n;
  if (is_left) angle = 4 * n - angle;
  const bool is_steep = angle > n;
  if (is_steep) angle = 2 * n - angle;
  const double radians = static_cast<double>(angle) * std::numbers::pi / static_cast<double>(4 * n);
  double cosine = vm::math::scalar::cos(radians), sine = vm::math::scalar::sin(radians);
  if (is_steep) std::swap(cosine, sine);
  return {is_left ? -cosine : cosine, is_below ? sine : -sine};
}

/// root(k, n) for all k below `count`, at most n.
ComplexNumbers roots_of(std::size_t n, std::size_t count) {
  ComplexNumbers roots(count);
  const std::size_t quarter = n % 8 == 0 ? n / 4 : n;
  for (std::size_t k = 0; k < count; ++k) {
    if (k <= quarter / 2 || quarter == n)
      roots[k] = root(k, n);
    else if (k <= quarter)
      roots[k] = {-roots[quarter - k].im, -roots[quarter - k].re};
    else
      roots[k] = {roots[k - quarter].im, -roots[k - quarter].re};
  }
  return roots;
}

// ---------------------------------------------------------------- Stockham

template <std::size_t radix>
void transform_few(Complex* a);

template <>
void transform_few<2>(Complex* a) {
  const Complex first = a[0];
  a[0] = first + a[1];
  a[1] = first - a[1];
}

template <>
void transform_few<3>(Complex* a) {
  constexpr double sine = 0.86602540378443864676;  // of pi 2/3
  const Complex sum = a[1] + a[2], turned = times_i(sine * (a[2] - a[1]));
  const Complex middle = a[0] - 0.5 * sum;
  a[0] = a[0] + sum;
  a[1] = middle + turned;
  a[2] = middle - turned;
}

template <>
void transform_few<4>(Complex* a) {
  const Complex even = a[0] + a[2], odd = a[1] + a[3];
  const Complex even_rest = a[0] - a[2], odd_rest = times_i(a[3] - a[1]);
  a[0] = even + odd;
  a[1] = even_rest + odd_rest;
  a[2] = even - odd;
  a[3] = even_rest - odd_rest;
}

template <>
void transform_few<5>(Complex* a) {
  constexpr double cosine1 = 0.30901699437494742410, sine1 = 0.95105651629515357212;   // of pi 2/5
  constexpr double cosine2 = -0.80901699437494742410, sine2 = 0.58778525229247312917;  // of pi 4/5
  const Complex outer = a[1] + a[4], inner = a[2] + a[3], outer_rest = a[4] - a[1], inner_rest = a[3] - a[2];
  const Complex middle1 = a[0] + cosine1 * outer + cosine2 * inner;
  const Complex middle2 = a[0] + cosine2 * outer + cosine1 * inner;
  const Complex turned1 = times_i(sine1 * outer_rest + sine2 * inner_rest);
  const Complex turned2 = times_i(sine2 * outer_rest - sine1 * inner_rest);
  a[0] = a[0] + outer + inner;
  a[1] = middle1 + turned1;
  a[2] = middle2 + turned2;
  a[3] = middle2 - turned2;
  a[4] = middle1 - turned1;
}

/// `stride` interleaved transforms of n numbers each become radix times as many of n / radix.
/// @param columns  of them belong to other transforms  @param roots  of n * stride / columns
template <std::size_t radix>
void pass(std::size_t n, std::size_t stride, std::size_t columns, const ComplexNumbers& x, ComplexNumbers& y,
          const ComplexNumbers& roots) {
  const std::size_t rest = n / radix;
  for (std::size_t k = 0; k < rest; ++k) {
    const Complex* const from = x.data() + stride * k;
    Complex* const to = y.data() + stride * radix * k;
    Complex factors[radix];
    for (std::size_t j = 1; j < radix; ++j) factors[j] = roots[stride / columns * k * j];
    for (std::size_t i = 0; i < stride; ++i) {
      Complex few[radix];
      for (std::size_t j = 0; j < radix; ++j) few[j] = from[i + stride * rest * j];
      transform_few<radix>(few);
      to[i] = few[0];
      for (std::size_t j = 1; j < radix; ++j) to[i + stride * j] = few[j] * factors[j];
    }
  }
}

bool is_smooth(std::size_t n) {
  for (const std::size_t prime : {2, 3, 5})
    while (n % prime == 0) n /= prime;
  return n == 1;
}

/// @pre is_smooth(x.size() / columns)
ComplexNumbers transform_smooth(ComplexNumbers x, std::size_t columns = 1) {
  const std::size_t length = x.size() / columns;
  const ComplexNumbers roots = roots_of(length, length);
  ComplexNumbers y(x.size());
  for (std::size_t n = length, stride = columns; n > 1; std::swap(x, y)) {
    const std::size_t radix = n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 5;
    switch (radix) {
      case 2: pass<2>(n, stride, columns, x, y, roots); break;
      case 3: pass<3>(n, stride, columns, x, y, roots); break;
      case 4: pass<4>(n, stride, columns, x, y, roots); break;
      default: pass<5>(n, stride, columns, x, y, roots);
    }
    n /= radix;
    stride *= radix;
  }
  return x;
}

// ---------------------------------------------------------------- Bluestein

/// The least product of a power of 2 and 1, 3 or 5 that is not below.
std::size_t convenient_length(std::size_t least) {
  std::size_t best = std::bit_ceil(least);
  for (const std::size_t factor : {3, 5}) best = std::min(best, factor * std::bit_ceil((least + factor - 1) / factor));
  return best;
}

/// As j k = (j^2 + k^2 - (k - j)^2) / 2, the transform is a convolution with e^(pi i j^2 / n).
ComplexNumbers transform_any(const ComplexNumbers& x) {
  const std::size_t n = x.size(), length = convenient_length(2 * n - 1);
  ComplexNumbers chirp(n), a(length), b(length);
  for (std::size_t k = 0, square = 0; k < n; ++k) {
    chirp[k] = root(square, 2 * n);
    square = (square + 2 * k + 1) % (2 * n);
    a[k] = x[k] * chirp[k];
    b[k] = conjugate(chirp[k]);
    if (k > 0) b[length - k] = b[k];
  }
  a = transform_smooth(std::move(a));
  b = transform_smooth(std::move(b));
  for (std::size_t k = 0; k < length; ++k) a[k] = a[k] * b[k];
  a = inverse_fourier_transform(std::move(a));
  ComplexNumbers y(n);
  for (std::size_t k = 0; k < n; ++k) y[k] = a[k] * chirp[k];
  return y;
}

}  // namespace

ComplexNumbers fourier_transform(ComplexNumbers x) {
  if (x.size() < 2) return x;
  return is_smooth(x.size()) ? transform_smooth(std::move(x)) : transform_any(x);
}

ComplexNumbers fourier_transform_columns(ComplexNumbers x, std::size_t columns) {
  const std::size_t length = columns == 0 ? 0 : x.size() / columns;
  if (length < 2) return x;
  if (is_smooth(length)) return transform_smooth(std::move(x), columns);
  ComplexNumbers column(length);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < length; ++i) column[i] = x[i * columns + j];
    const ComplexNumbers transformed = transform_any(column);
    for (std::size_t i = 0; i < length; ++i) x[i * columns + j] = transformed[i];
  }
  return x;
}

/// With real and imaginary parts exchanged it is the transform itself.
ComplexNumbers inverse_fourier_transform(ComplexNumbers y) {
  for (Complex& each : y) std::swap(each.re, each.im);
  y = fourier_transform(std::move(y));
  const auto count = static_cast<double>(y.size());
  for (Complex& each : y) each = {each.im / count, each.re / count};
  return y;
}

/// Of an even count each second number is an imaginary part: the transform of half the length has both parts in it.
ComplexNumbers real_fourier_transform(const std::vector<double>& x) {
  const std::size_t n = x.size(), half = n / 2;
  if (n % 2 != 0 || n == 0) {
    ComplexNumbers whole(n);
    for (std::size_t j = 0; j < n; ++j) whole[j].re = x[j];
    whole = fourier_transform(std::move(whole));
    whole.resize(std::min(n, half + 1));
    if (n > 0) whole[0].im = 0;  // Bluestein's has an error there
    return whole;
  }
  ComplexNumbers pairs(half);
  for (std::size_t j = 0; j < half; ++j) pairs[j] = {x[2 * j], x[2 * j + 1]};
  pairs = fourier_transform(std::move(pairs));
  const ComplexNumbers roots = roots_of(n, half);
  ComplexNumbers y(half + 1);
  y[0] = {pairs[0].re + pairs[0].im, 0};
  y[half] = {pairs[0].re - pairs[0].im, 0};
  for (std::size_t k = 1; k < half; ++k) {
    const Complex one = pairs[k], other = conjugate(pairs[half - k]);
    y[k] = 0.5 * ((one + other) - times_i(roots[k] * (one - other)));
  }
  return y;
}

std::vector<double> inverse_real_fourier_transform(const ComplexNumbers& y, std::size_t n) {
  std::vector<double> x(n);
  const std::size_t half = n / 2;
  if (n == 0) return x;
  if (n % 2 != 0) {
    ComplexNumbers whole(n);
    whole[0].re = y[0].re;
    for (std::size_t k = 1; k <= half; ++k) {
      whole[k] = y[k];
      whole[n - k] = conjugate(y[k]);
    }
    whole = inverse_fourier_transform(std::move(whole));
    for (std::size_t j = 0; j < n; ++j) x[j] = whole[j].re;
    return x;
  }
  const ComplexNumbers roots = roots_of(n, half);
  ComplexNumbers pairs(half);
  pairs[0] = {0.5 * (y[0].re + y[half].re), 0.5 * (y[0].re - y[half].re)};
  for (std::size_t k = 1; k < half; ++k) {
    const Complex one = y[k], other = conjugate(y[half - k]);
    pairs[k] = 0.5 * ((one + other) + times_i(conjugate(roots[k]) * (one - other)));
  }
  pairs = inverse_fourier_transform(std::move(pairs));
  for (std::size_t j = 0; j < half; ++j) {
    x[2 * j] = pairs[j].re;
    x[2 * j + 1] = pairs[j].im;
  }
  return x;
}

}  // namespace raddle::stdlib::native
