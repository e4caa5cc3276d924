// The library's AppKernels: the module `kernels` of scripts (stdlib/kernels.df), which says what each does. They are those
// of GeMTC (Krieder et al., HPDC'14, section 3.3), each a warp's work.
#include <algorithm>

#include "raddle_kernel.h"

namespace {

using raddle::In;
using raddle::Out;
using raddle::Warp;
using Matrix = In<double, 2>;

/// The element of an image that is nearest to a place outside of it.
double at_edge(Matrix image, int64_t i, int64_t j) {
  return image(std::clamp<int64_t>(i, 0, image.extent(0) - 1), std::clamp<int64_t>(j, 0, image.extent(1) - 1));
}

/// Phi of the normal distribution.
double normal(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// As good as random, of a number and a seed: SplitMix64.
uint64_t mixed(uint64_t number, uint64_t seed) {
  uint64_t word = seed + (number + 1) * 0x9e3779b97f4a7c15;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}
double unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

/// Puts the row with the greatest element of a column, from row `first` on, there. Rows of both matrices are exchanged;
/// `other` may have no columns. @return whether rows were exchanged
bool exchange_rows(Warp warp, Out<double, 2> a, Out<double, 2> other, int64_t first) {
  const int64_t n = a.extent(0);
  const double greatest = warp.max(n - first, -1.0, [&](int64_t i) { return std::fabs(a(first + i, first)); });
  const int64_t row = warp.min(n - first, n, [&](int64_t i) {
    return std::fabs(a(first + i, first)) == greatest ? first + i : n;
  });
  if (row == first || row == n) return false;
  warp.for_each(n, [&](int64_t j) { std::swap(a(first, j), a(row, j)); });
  warp.for_each(other.extent(1), [&](int64_t j) { std::swap(other(first, j), other(row, j)); });
  return true;
}

}  // namespace

RADDLE_KERNEL void add(Warp warp, In<double, 1> x, In<double, 1> y, Out<double, 1> sum) {
  warp.for_each(x.size(), [&](int64_t i) { sum[i] = x[i] + y[i]; });
}

RADDLE_KERNEL void dot(Warp warp, In<double, 1> x, In<double, 1> y, double& product) {
  product = warp.sum(x.size(), [&](int64_t i) { return x[i] * y[i]; });
}

RADDLE_KERNEL int summary(Warp warp, In<double, 1> x, double& least, double& mean, double& most) {
  if (x.size() == 0) return raddle::failure("there are no numbers");
  least = warp.min(x.size(), x[0], [&](int64_t i) { return x[i]; });
  most = warp.max(x.size(), x[0], [&](int64_t i) { return x[i]; });
  mean = warp.sum(x.size(), [&](int64_t i) { return x[i]; }) / static_cast<double>(x.size());
  // the order of comparisons is not to show
  if (warp.sum(x.size(), [&](int64_t i) { return int64_t{std::isnan(x[i])}; }) != 0) least = most = mean;
  return 0;
}

RADDLE_KERNEL void product_with_vector(Warp warp, Matrix a, In<double, 1> x, Out<double, 1> y) {
  for (int64_t i = 0; i < a.extent(0); ++i)
    y[i] = warp.sum(a.extent(1), [&](int64_t j) { return a(i, j) * x[j]; });
}

RADDLE_KERNEL void product(Warp warp, Matrix a, Matrix b, Out<double, 2> c) {
  warp.for_each(c.size(), [&](int64_t number) {
    const int64_t i = number / c.extent(1), j = number % c.extent(1);
    double sum = 0;
    for (int64_t k = 0; k < a.extent(1); ++k) sum += a(i, k) * b(k, j);
    c[number] = sum;
  });
}

RADDLE_KERNEL void transposed(Warp warp, Matrix a, Out<double, 2> b) {
  warp.for_each(a.size(), [&](int64_t number) { b(number % a.extent(1), number / a.extent(1)) = a[number]; });
}

/// Gauss and Jordan, with pivots. @param work  becomes the identity
RADDLE_KERNEL int inverse(Warp warp, Matrix a, Out<double, 2> b, Out<double, 2> work) {
  const int64_t n = a.extent(0);
  warp.for_each(n * n, [&](int64_t i) {
    work[i] = a[i];
    b[i] = i / n == i % n ? 1 : 0;
  });
  for (int64_t k = 0; k < n; ++k) {
    exchange_rows(warp, work, b, k);
    const double pivot = work(k, k);
    if (std::isnan(pivot)) return raddle::failure("an element of the matrix is NaN or infinite");
    if (pivot == 0) return raddle::failure("the matrix is singular");
    warp.for_each(n, [&](int64_t j) {
      work(k, j) /= pivot;
      b(k, j) /= pivot;
    });
    for (int64_t i = 0; i < n; ++i) {
      const double factor = work(i, k);
      if (i == k) continue;
      warp.for_each(n, [&](int64_t j) {
        work(i, j) -= factor * work(k, j);
        b(i, j) -= factor * b(k, j);
      });
    }
  }
  return 0;
}

/// By Gauss, with pivots.
RADDLE_KERNEL void determinant(Warp warp, Matrix a, double& value, Out<double, 2> work) {
  const int64_t n = a.extent(0);
  warp.for_each(n * n, [&](int64_t i) { work[i] = a[i]; });
  double all = 1;
  for (int64_t k = 0; k < n; ++k) {
    if (exchange_rows(warp, work, {nullptr, {0, 0}}, k)) all = -all;
    const double pivot = work(k, k);
    all *= pivot;
    if (!(std::fabs(pivot) > 0)) break;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = work(i, k) / pivot;
      warp.for_each(n - k, [&](int64_t j) { work(i, k + j) -= factor * work(k, k + j); });
    }
  }
  value = all;
}

/// Jacobi's sweeps. @param other  the grid one sweep before
RADDLE_KERNEL int stencil(Warp warp, Matrix first, int64_t sweeps, Out<double, 2> grid, Out<double, 2> other) {
  const int64_t n = grid.extent(0), m = grid.extent(1);
  if (sweeps < 0) return raddle::failure("the number of sweeps is negative");
  warp.for_each(grid.size(), [&](int64_t i) { grid[i] = other[i] = first[i]; });
  for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
    warp.for_each(grid.size(), [&](int64_t i) { other[i] = grid[i]; });
    warp.for_each(std::max<int64_t>(0, n - 2) * std::max<int64_t>(0, m - 2), [&](int64_t number) {
      const int64_t i = 1 + number / (m - 2), j = 1 + number % (m - 2);
      grid(i, j) = 0.25 * (other(i - 1, j) + other(i + 1, j) + other(i, j - 1) + other(i, j + 1));
    });
  }
  return 0;
}

RADDLE_KERNEL int black_scholes(Warp warp, In<double, 1> spot, In<double, 1> strike, In<double, 1> years, double rate,
                                 double volatility, Out<double, 1> call, Out<double, 1> put) {
  if (volatility < 0) return raddle::failure("the volatility is negative");
  warp.for_each(spot.size(), [&](int64_t i) {
    if (spot[i] < 0 || strike[i] < 0 || years[i] < 0) {
      call[i] = put[i] = NAN;
      return;
    }
    const double spread = volatility * std::sqrt(years[i]);
    const double paid = strike[i] * std::exp(-rate * years[i]);
    const double over = std::log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i];
    const double d1 = spread == 0 && over == 0 ? 0 : over / spread;
    call[i] = spot[i] * normal(d1) - paid * normal(d1 - spread);
    put[i] = paid * normal(spread - d1) - spot[i] * normal(-d1);
  });
  return 0;
}

RADDLE_KERNEL int histogram(Warp warp, In<double, 1> x, double low, double high, int64_t bins,
                            Out<int64_t, 1> counts) {
  if (!(low < high) || !std::isfinite(high - low))
    return raddle::failure("the range is empty or not finite: `low` is to be less than `high`");
  if (bins == 0) return raddle::failure("there are no bins");
  warp.for_each(x.size(), [&](int64_t i) {
    if (!(x[i] >= low && x[i] <= high)) return;
    const auto bin = static_cast<int64_t>((x[i] - low) / (high - low) * static_cast<double>(bins));
    raddle::add(counts[std::min(bin, bins - 1)], 1);
  });
  return 0;
}

RADDLE_KERNEL int convolution(Warp warp, Matrix image, Matrix filter, Out<double, 2> out) {
  if (filter.extent(0) % 2 == 0 || filter.extent(1) % 2 == 0)
    return raddle::failure("the extents of the filter are to be odd");
  warp.for_each(image.size(), [&](int64_t number) {
    const int64_t i = number / image.extent(1), j = number % image.extent(1);
    double sum = 0;
    for (int64_t k = 0; k < filter.extent(0); ++k)
      for (int64_t l = 0; l < filter.extent(1); ++l)
        sum += filter(k, l) * at_edge(image, i + filter.extent(0) / 2 - k, j + filter.extent(1) / 2 - l);
    out[number] = sum;
  });
  return 0;
}

RADDLE_KERNEL int bilateral(Warp warp, Matrix image, int64_t radius, double sigma_space, double sigma_value,
                            Out<double, 2> out) {
  if (radius < 0) return raddle::failure("the radius is negative");
  if (!(sigma_space > 0) || !(sigma_value > 0)) return raddle::failure("both sigmas are to be positive");
  warp.for_each(image.size(), [&](int64_t number) {
    const int64_t i = number / image.extent(1), j = number % image.extent(1);
    double sum = 0, weights = 0;
    for (int64_t k = -radius; k <= radius; ++k)
      for (int64_t l = -radius; l <= radius; ++l) {
        const double value = at_edge(image, i + k, j + l), difference = (value - image[number]) / sigma_value;
        const double distance = static_cast<double>(k * k + l * l) / (sigma_space * sigma_space);
        const double weight = std::exp(-0.5 * (distance + difference * difference));
        sum += weight * value;
        weights += weight;
      }
    out[number] = sum / weights;
  });
  return 0;
}

/// Lanes take the diagonals of the table of Needleman and Wunsch, which do not depend on each other here.
RADDLE_KERNEL void common_substring(Warp warp, const char* a, const char* b, int64_t& length, int64_t& begin) {
  int64_t n = 0, m = 0;
  while (a[n] != 0) ++n;
  while (b[m] != 0) ++m;
  constexpr int64_t most = int64_t{1} << 31;
  // the longest one, of these the first one of `a`, as one number
  const int64_t found = warp.max(n + m, int64_t{0}, [&](int64_t diagonal) {
    int64_t best = 0, run = 0;
    for (int64_t i = std::max<int64_t>(0, diagonal - m); i < n && i - diagonal + m < m; ++i) {
      run = a[i] == b[i - diagonal + m] ? run + 1 : 0;
      if (run != 0) best = std::max(best, run * most + most - 1 - (i + 1 - run));
    }
    return best;
  });
  length = found / most;
  begin = length == 0 ? 0 : most - 1 - found % most;
}

RADDLE_KERNEL int pi(Warp warp, int64_t points, int64_t seed, double& estimate) {
  if (points < 1) return raddle::failure("there are no points");
  const int64_t inside = warp.sum(points, [&](int64_t i) {
    const double x = unit(mixed(2 * i, seed)), y = unit(mixed(2 * i + 1, seed));
    return int64_t{x * x + y * y < 1};
  });
  estimate = 4 * static_cast<double>(inside) / static_cast<double>(points);
  return 0;
}
