// Fourier transforms of all small lengths, and of some large ones, against the sum they stand for in long double.
#include "stdlib/numbers/fourier.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

using raddle::stdlib::native::Complex;
using raddle::stdlib::native::ComplexNumbers;
using raddle::stdlib::native::fourier_transform;
using raddle::stdlib::native::fourier_transform_columns;
using raddle::stdlib::native::inverse_fourier_transform;
using raddle::stdlib::native::inverse_real_fourier_transform;
using raddle::stdlib::native::real_fourier_transform;

namespace {

ComplexNumbers random_numbers(std::size_t count, bool is_real) {
  std::mt19937 numbers(static_cast<unsigned>(count));
  const auto next = [&] { return static_cast<double>(numbers()) / 2147483648.0 - 1; };
  ComplexNumbers all(count);
  for (Complex& each : all) each = {next(), is_real ? 0 : next()};
  return all;
}

/// The largest error, in ulp of the length of x and divided by log2 n + 1.
double error_of(const ComplexNumbers& x, const ComplexNumbers& y) {
  const std::size_t n = x.size();
  std::vector<long double> cosines(n), sines(n);
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    cosines[k] = std::cos(angle);
    sines[k] = std::sin(angle);
  }
  long double largest = 0, squares = 0;
  for (const Complex& each : x)
    squares += static_cast<long double>(each.re) * each.re + static_cast<long double>(each.im) * each.im;
  for (std::size_t k = 0; k < y.size(); ++k) {
    long double re = 0, im = 0;
    for (std::size_t j = 0, at = 0; j < n; ++j, at = (at + k) % n) {
      re += x[j].re * cosines[at] + x[j].im * sines[at];
      im += x[j].im * cosines[at] - x[j].re * sines[at];
    }
    largest = std::max(largest, std::hypot(re - y[k].re, im - y[k].im));
  }
  const long double unit = std::sqrt(squares) * std::numeric_limits<double>::epsilon();
  return static_cast<double>(largest / unit / (1 + std::log2(static_cast<long double>(n))));
}

double distance(const ComplexNumbers& a, const ComplexNumbers& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    largest = std::max(largest, std::hypot(a[k].re - b[k].re, a[k].im - b[k].im));
  return largest;
}

void check_length(std::size_t n) {
  CAPTURE(n);
  const ComplexNumbers x = random_numbers(n, false), y = fourier_transform(x);
  CHECK(error_of(x, y) < 2);
  CHECK(distance(inverse_fourier_transform(y), x) < 1e-14);
  const ComplexNumbers real = random_numbers(n, true);
  std::vector<double> parts;
  for (const Complex& each : real) parts.push_back(each.re);
  const ComplexNumbers half = real_fourier_transform(parts);
  CHECK(half.size() == n / 2 + 1);
  CHECK(error_of(real, half) < 2);
  CHECK(half[0].im == 0);
  if (n % 2 == 0) CHECK(half[n / 2].im == 0);
  const std::vector<double> back = inverse_real_fourier_transform(half, n);
  REQUIRE(back.size() == n);
  for (std::size_t j = 0; j < n; ++j) CHECK(std::abs(back[j] - parts[j]) < 1e-14);
}

}  // namespace

TEST_CASE("transforms of each small length") {
  for (std::size_t n = 1; n <= 130; ++n) check_length(n);
}

TEST_CASE("transforms of powers, of products, of primes") {
  for (const std::size_t n : {243, 256, 625, 997, 1000, 1024, 1080, 2047, 2048, 2310}) check_length(n);
}

TEST_CASE("columns have the bits of each by itself") {
  for (const std::size_t n : {1, 2, 12, 13, 60}) {
    constexpr std::size_t columns = 7;
    const ComplexNumbers x = random_numbers(n * columns, false), y = fourier_transform_columns(x, columns);
    REQUIRE(y.size() == x.size());
    for (std::size_t j = 0; j < columns; ++j) {
      ComplexNumbers column;
      for (std::size_t i = 0; i < n; ++i) column.push_back(x[i * columns + j]);
      column = fourier_transform(column);
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(y[i * columns + j].re == column[i].re);
        CHECK(y[i * columns + j].im == column[i].im);
      }
    }
  }
}

TEST_CASE("of nothing") {
  CHECK(fourier_transform_columns({}, 3).empty());
  CHECK(fourier_transform_columns({}, 0).empty());
  CHECK(fourier_transform({}).empty());
  CHECK(inverse_fourier_transform({}).empty());
  CHECK(real_fourier_transform({}).empty());
  CHECK(inverse_real_fourier_transform({}, 0).empty());
}

TEST_CASE("exact where numbers are") {
  const ComplexNumbers y = fourier_transform({{1, 0}, {2, 0}, {3, 0}, {4, 0}});
  const double wanted[4][2] = {{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(y[k].re == wanted[k][0]);
    CHECK(y[k].im == wanted[k][1]);
  }
}
