// The loops of this folder's scripts, fused where that spares an array. With -fopenmp they are shared among the
// threads. Usage: loops CASE N [STEPS]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace {

double cnd(double d) {
  const double k = 1.0 / (1.0 + 0.2316419 * std::fabs(d));
  const double w = 0.3989422804014327 * std::exp(-0.5 * d * d) *
                   (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0.0 ? 1.0 - w : w;
}

/// In blocks, so that the remainders of ints, for which there are no vectors, do not keep the rest from having some.
double black_scholes(std::int64_t n) {
  constexpr double rate = 0.02, volatility = 0.3;
  constexpr std::int64_t block = 256;
  const auto size = static_cast<double>(n);
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t count = std::min(block, n - first);
    double prices[block], strikes[block], times[block];
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = first + k;
      prices[k] = 5.0 + 25.0 * static_cast<double>(i * 7919 % n) / size;
      strikes[k] = 1.0 + 99.0 * static_cast<double>(i * 104729 % n) / size;
      times[k] = 0.25 + 9.75 * static_cast<double>(i * 15485863 % n) / size;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      const double s = prices[k], x = strikes[k], t = times[k], q = std::sqrt(t);
      const double d1 = (std::log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * q);
      const double c1 = cnd(d1), c2 = cnd(d1 - volatility * q);
      const double e = x * std::exp(-rate * t);
      sum += s * c1 - e * c2 + (e * (1.0 - c2) - s * (1.0 - c1));
    }
  }
  return sum;
}

double mandelbrot(std::int64_t n) {
  std::int64_t sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 1000)
  for (std::int64_t i = 0; i < n * n; ++i) {
    const double cr = -2.0 + 3.0 * static_cast<double>(i % n) / static_cast<double>(n - 1);
    const double ci = -1.5 + 3.0 * static_cast<double>(i / n) / static_cast<double>(n - 1);
    int k = 0;
    for (double x = 0, y = 0; k < 100 && x * x + y * y < 4.0; ++k) {
      const double next = x * x - y * y + cr;
      y = 2.0 * x * y + ci;
      x = next;
    }
    sum += k;
  }
  return static_cast<double>(sum);
}

double sum_of(const std::vector<double>& all) {
  double sum = 0;
  for (const double each : all) sum += each;
  return sum;
}

double chain(std::int64_t n, std::int64_t steps) {
  std::vector<double> a(static_cast<std::size_t>(n));
  double* const x = a.data();
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<double>(i) * 0.5;
  for (std::int64_t t = 0; t < steps; ++t) {
    asm volatile("" ::: "memory");  // step by step: the compiler may not do many of them for one element
    for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] * 0.999 + 1.0;
  }
  return sum_of(a);
}

double memory(std::int64_t n) {
  std::vector<double> all(static_cast<std::size_t>(n));
  double* const a = all.data();
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) a[i] = static_cast<double>(i) * 0.5;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] + a[n - 1 - i];
  return sum;
}

double nest(std::int64_t n, std::int64_t steps) {
  std::vector<double> x(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) x[i * n + j] = static_cast<double>(i) * 0.5 + static_cast<double>(j);
  std::vector<double> y = x;
  for (std::int64_t t = 0; t < steps; ++t) {
    const double* const from = x.data();
    double* const to = y.data();
#pragma omp parallel for
    for (std::int64_t i = 1; i < n - 1; ++i)
      for (std::int64_t j = 1; j < n - 1; ++j)
        to[i * n + j] =
            0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
    std::swap(x, y);
  }
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += x[n / 2 * n + j];
  return sum;
}

double matrix_times_vector(std::int64_t n) {
  std::vector<double> matrix(static_cast<std::size_t>(n * n)), x(static_cast<std::size_t>(n));
#pragma omp parallel for
  for (std::int64_t k = 0; k < n * n; ++k) matrix[k] = 1.0 / static_cast<double>(1 + k);
  for (std::int64_t k = 0; k < n; ++k) x[k] = static_cast<double>(k) * 0.5;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::int64_t j = 0; j < n; ++j) row += matrix[i * n + j] * x[j];
    sum += row;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 2 ? argv[1] : "";
  const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 0;
  const std::int64_t steps = argc > 3 ? std::atoll(argv[3]) : 0;
  double result = 0;
  if (name == "bs") result = black_scholes(n);
  if (name == "mandel") result = mandelbrot(n);
  if (name == "chain2" || name == "chain3") result = chain(n, steps);
  if (name == "mem") result = memory(n);
  if (name == "nest") result = nest(n, steps);
  if (name == "jac") result = matrix_times_vector(n);
  std::printf("%.17g\n", result);
}
