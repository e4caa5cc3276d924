// The programs of examples/arrays by hand: fused, each array once through memory. With -fopenmp the threads share the
// loops. They end with a number, as the scripts do. Usage: arrays NAME N [STEPS]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using Size = std::int64_t;
using Numbers = std::vector<double>;

/// The number of a stream at a place, uniform in [0, 1): splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
double uniform(std::uint64_t stream, Size place) {
  std::uint64_t z = (stream << 40) + static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

template <class Real = double>
std::vector<Real> random(std::uint64_t stream, Size n, double low = 0.0, double width = 1.0) {
  std::vector<Real> result(static_cast<std::size_t>(n));
  Real* const numbers = result.data();
#pragma omp parallel for
  for (Size i = 0; i < n; ++i) numbers[i] = static_cast<Real>(low + width * uniform(stream, i));
  return result;
}

template <class Real>
double sum(const std::vector<Real>& numbers) {
  double total = 0.0;
  const Real* const all = numbers.data();
  const Size n = static_cast<Size>(numbers.size());
#pragma omp parallel for reduction(+ : total)
  for (Size i = 0; i < n; ++i) total += all[i];
  return total;
}

template <class Real>
Real cumulative_normal(Real d) {
  const auto of = [](double constant) { return static_cast<Real>(constant); };
  const Real k = 1 / (1 + of(0.2316419) * std::fabs(d));
  const Real q = k * (of(0.31938153) +
                      k * (of(-0.356563782) + k * (of(1.781477937) + k * (of(-1.821255978) + k * of(1.330274429)))));
  const Real tail = of(0.3989422804014327) * std::exp(of(-0.5) * d * d) * q;
  return d > 0 ? 1 - tail : tail;
}

template <class Real>
double black_scholes(Size n, Size steps) {
  const std::vector<Real> prices = random<Real>(1, n, 5.0, 25.0), strikes = random<Real>(2, n, 1.0, 99.0),
                          times = random<Real>(3, n, 0.25, 9.75);
  constexpr Real volatility = static_cast<Real>(0.3), half = static_cast<Real>(0.5);
  std::vector<Real> calls(prices.size()), puts(prices.size());
  const Real *const price = prices.data(), *const strike = strikes.data(), *const time = times.data();
  Real *const call = calls.data(), *const put = puts.data();
  double total = 0.0;
  for (Size step = 0; step < steps; ++step) {
    const Real rate = static_cast<Real>(0.02 + 0.0001 * static_cast<double>(step));
#pragma omp parallel for
    for (Size i = 0; i < n; ++i) {
      const Real s = price[i], x = strike[i], t = time[i];
      const Real d1 = (std::log(s / x) + (rate + half * volatility * volatility) * t) / (volatility * std::sqrt(t));
      const Real d2 = d1 - volatility * std::sqrt(t);
      const Real c1 = cumulative_normal(d1), c2 = cumulative_normal(d2), e = x * std::exp(-rate * t);
      call[i] = s * c1 - e * c2;
      put[i] = e * (1 - c2) - s * (1 - c1);
    }
    total += static_cast<double>(calls[static_cast<std::size_t>(step)] + puts[static_cast<std::size_t>(n - 1 - step)]);
  }
  return total;
}

constexpr int vectors = 4;  // so many points at once hide how long an addition takes
template <class Real>
struct Vectors {
  static constexpr int bytes = 32, lanes = bytes / sizeof(Real);
  using Count = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  using Lanes [[gnu::vector_size(bytes)]] = Real;
  using Counts [[gnu::vector_size(bytes)]] = Count;
};

/// How many steps the points of one row take that begin with column j; columns past the last are not stored.
template <class Real>
void escape(Size j, Size n, double left, double row_at, typename Vectors<Real>::Count* row) {
  using Of = Vectors<Real>;
  typename Of::Lanes cr[vectors], x[vectors] = {}, y[vectors] = {};
  typename Of::Counts count[vectors] = {}, stays[vectors];  // all bits of a lane
  const Real ci = static_cast<Real>(row_at), two = 2, four = 4;
  std::fill_n(stays, vectors, typename Of::Counts{} - 1);
  for (int v = 0; v < vectors; ++v)
    for (int l = 0; l < Of::lanes; ++l)
      cr[v][l] =
          static_cast<Real>(left + 3.0 * static_cast<double>(j + v * Of::lanes + l) / static_cast<double>(n - 1));
  for (int k = 0; k < 100; ++k) {
    typename Of::Counts any = {};
    for (int v = 0; v < vectors; ++v) {
      const typename Of::Lanes xx = x[v] * x[v], yy = y[v] * y[v];
      stays[v] &= xx + yy < four;
      count[v] -= stays[v];
      any |= stays[v];
      y[v] = two * x[v] * y[v] + ci;
      x[v] = xx - yy + cr[v];
    }
    typename Of::Count some = 0;
    for (int l = 0; l < Of::lanes; ++l) some |= any[l];
    if (some == 0) break;
  }
  for (Size i = 0; i < std::min<Size>(vectors * Of::lanes, n - j); ++i)
    row[j + i] = count[i / Of::lanes][i % Of::lanes];
}

template <class Real>
double mandelbrot(Size n, Size steps) {
  std::vector<typename Vectors<Real>::Count> all(static_cast<std::size_t>(n * n));
  auto* const numbers = all.data();
  double total = 0.0;
  for (Size step = 0; step < steps; ++step) {
    const double left = -2.0 + 1e-6 * static_cast<double>(step);
#pragma omp parallel for schedule(dynamic, 8)
    for (Size i = 0; i < n; ++i) {
      const double ci = -1.5 + 3.0 * static_cast<double>(i) / static_cast<double>(n - 1);
      for (Size j = 0; j < n; j += vectors * Vectors<Real>::lanes) escape<Real>(j, n, left, ci, numbers + i * n);
    }
    total += static_cast<double>(all[static_cast<std::size_t>((n / 2) * n + step)]);
  }
  return total;
}

template <class Real>
double logistic_regression(Size n, Size steps) {
  constexpr Size m = 32;
  constexpr Real one = 1;
  const std::vector<Real> measured = random<Real>(1, n * m), chances = random<Real>(2, n);
  const Real *const X = measured.data(), *const chance = chances.data(), half = static_cast<Real>(0.5);
  Real w[m] = {};
  for (Size t = 0; t < steps; ++t) {
    Real gradient[m] = {};
#pragma omp parallel for reduction(+ : gradient)
    for (Size i = 0; i < n; ++i) {
      const Real* const row = X + i * m;
      Real dot = 0;
      for (Size j = 0; j < m; ++j) dot += row[j] * w[j];
      const Real error = one / (one + std::exp(-dot)) - (chance[i] > half ? one : Real{});
      for (Size j = 0; j < m; ++j) gradient[j] += error * row[j];
    }
    for (Size j = 0; j < m; ++j) w[j] -= static_cast<Real>(0.1 / static_cast<double>(n)) * gradient[j];
  }
  double total = 0.0;
  for (const Real weight : w) total += static_cast<double>(weight);
  return total;
}

template <class Real>
double jacobi(Size n, Size steps) {
  std::vector<Real> matrix = random<Real>(1, n * n), x(static_cast<std::size_t>(n)), next = x;
  const std::vector<Real> b = random<Real>(2, n);
  for (Size i = 0; i < n; ++i) matrix[static_cast<std::size_t>(i * n + i)] += static_cast<Real>(n);
  const Real *const A = matrix.data(), *const right = b.data();
  for (Size t = 0; t < steps; ++t) {
    const Real* const old = x.data();
    Real* const fresh = next.data();
#pragma omp parallel for
    for (Size i = 0; i < n; ++i) {
      Real dot = 0;
      for (Size j = 0; j < n; ++j) dot += A[i * n + j] * old[j];
      fresh[i] = (right[i] - (dot - A[i * n + i] * old[i])) / A[i * n + i];
    }
    std::swap(x, next);
  }
  return sum(x);
}

double heat(Size n, Size steps) {
  Numbers u(static_cast<std::size_t>(n * n));
  std::fill_n(u.begin(), n, 100.0);
  Numbers v = u;
  for (Size t = 0; t < steps; ++t) {
    const double* const old = u.data();
    double* const fresh = v.data();
#pragma omp parallel for
    for (Size i = 1; i < n - 1; ++i)
      for (Size j = 1; j < n - 1; ++j)
        fresh[i * n + j] =
            0.25 * (old[(i - 1) * n + j] + old[(i + 1) * n + j] + old[i * n + j - 1] + old[i * n + j + 1]);
    std::swap(u, v);
  }
  return u[static_cast<std::size_t>(n + n / 2)];
}

double life(Size n, Size steps) {
  std::vector<Size> a(static_cast<std::size_t>(n * n)), b(a.size());
  for (Size i = 0; i < n * n; ++i) a[static_cast<std::size_t>(i)] = uniform(1, i) < 0.5 ? 1 : 0;
  for (Size t = 0; t < steps; ++t) {
    const Size* const old = a.data();
    Size* const fresh = b.data();
#pragma omp parallel for
    for (Size i = 0; i < n; ++i) {
      const Size *const up = old + (i + n - 1) % n * n, *const here = old + i * n, *const down = old + (i + 1) % n * n;
      const auto cell = [&](Size left, Size j, Size right) {
        const Size neighbours =
            up[left] + up[j] + up[right] + here[left] + here[right] + down[left] + down[j] + down[right];
        fresh[i * n + j] = neighbours == 3 || (neighbours == 2 && here[j] == 1) ? 1 : 0;
      };
      cell(n - 1, 0, 1);
      for (Size j = 1; j < n - 1; ++j) cell(j - 1, j, j + 1);
      cell(n - 2, n - 1, 0);
    }
    std::swap(a, b);
  }
  Size alive = 0;
  for (const Size cell : a) alive += cell;
  return static_cast<double>(alive);
}

double nbody(Size n, Size steps) {
  const auto bodies = static_cast<std::size_t>(n);
  Numbers p[3], v[3], a[3];
  for (std::size_t k = 0; k < 3; ++k) {
    p[k] = random(k, n);
    v[k] = a[k] = Numbers(bodies);
  }
  for (Size t = 0; t < steps; ++t) {
    const double *const x = p[0].data(), *const y = p[1].data(), *const z = p[2].data();
#pragma omp parallel for
    for (Size i = 0; i < n; ++i) {
      double ax = 0.0, ay = 0.0, az = 0.0;
      for (Size j = 0; j < n; ++j) {
        const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const double r2 = dx * dx + dy * dy + dz * dz + 1e-4, w = 1.0 / static_cast<double>(n) / (r2 * std::sqrt(r2));
        ax += w * dx;
        ay += w * dy;
        az += w * dz;
      }
      const auto place = static_cast<std::size_t>(i);
      a[0][place] = ax;
      a[1][place] = ay;
      a[2][place] = az;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t i = 0; i < bodies; ++i) {
        v[k][i] += 0.001 * a[k][i];
        p[k][i] += 0.001 * v[k][i];
      }
    }
  }
  return sum(p[2]) / static_cast<double>(n);
}

template <class Real>
double stencil27(Size n, Size steps) {
  std::vector<Real> u = random<Real>(1, n * n * n), v = u;
  for (Size t = 0; t < steps; ++t) {
    const Real* const old = u.data();
    Real* const fresh = v.data();
#pragma omp parallel for
    for (Size i = 1; i < n - 1; ++i) {
      std::vector<Real> sums(static_cast<std::size_t>(4 * n));  // three rows of sums over planes, and those of rows
      Real* const row = sums.data() + 3 * n;
      const auto add_planes = [&](Size j) {
        const Real* const here = old + (i * n + j) * n;
        Real* const sum = sums.data() + j % 3 * n;
        for (Size k = 0; k < n; ++k) sum[k] = here[k - n * n] + here[k] + here[k + n * n];
      };
      add_planes(0);
      add_planes(1);
      for (Size j = 1; j < n - 1; ++j) {
        add_planes(j + 1);
        for (Size k = 0; k < n; ++k)
          row[k] = sums[static_cast<std::size_t>(k)] + sums[static_cast<std::size_t>(n + k)] +
                   sums[static_cast<std::size_t>(2 * n + k)];
        Real* const to = fresh + (i * n + j) * n;
        for (Size k = 1; k < n - 1; ++k) to[k] = (row[k - 1] + row[k] + row[k + 1]) * static_cast<Real>(1.0 / 27.0);
      }
    }
    std::swap(u, v);
  }
  return sum(u) / static_cast<double>(n * n * n);
}

using State = std::array<double, 3>;

State change(const State& y) { return {-0.3 * y[0] * y[1], 0.3 * y[0] * y[1] - 0.1 * y[1], 0.1 * y[1]}; }

State moved(const State& y, double by, const State& along) {
  return {y[0] + by * along[0], y[1] + by * along[1], y[2] + by * along[2]};
}

double runge_kutta(Size steps, Size) {
  State y = {0.99, 0.01, 0.0};
  for (Size t = 0; t < steps; ++t) {
    const State k1 = change(y), k2 = change(moved(y, 0.0005, k1)), k3 = change(moved(y, 0.0005, k2)),
                k4 = change(moved(y, 0.001, k3));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += 0.001 / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  }
  return y[1];
}

double monte_carlo(Size n, Size) {
  double all = 0;
#pragma omp parallel for reduction(+ : all) schedule(static)
  for (Size path = 0; path < n; ++path) {
    thread_local std::mt19937_64 bits(static_cast<std::uint64_t>(path));
    thread_local std::normal_distribution<double> normal;
    double at = 100.0, total = 0.0;
    for (int t = 0; t < 12; ++t) {
      total += at;
      at *= std::exp(0.02 / 12 - 0.045 / 12 + 0.3 * std::sqrt(1.0 / 12) * normal(bits));
    }
    all += std::max(total / 12 - 100.0, 0.0);
  }
  return std::exp(-0.02) * all / static_cast<double>(n);
}

double tridiagonal(Size n, Size) {
  Numbers c(n), d(n), u(n);
  c[0] = -0.25;
  d[0] = 0.25;
  for (Size i = 1; i < n; ++i) {
    const double w = 4.0 + c[i - 1];
    c[i] = -1.0 / w;
    d[i] = (1.0 + static_cast<double>(i % 7) + d[i - 1]) / w;
  }
  u[n - 1] = d[n - 1];
  for (Size i = n - 2; i >= 0; --i) u[i] = d[i] - c[i] * u[i + 1];
  return sum(u) / static_cast<double>(n);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::pair<std::string_view, double (*)(Size, Size)> programs[] = {
      {"black_scholes", black_scholes<double>},
      {"black_scholes_float32", black_scholes<float>},
      {"mandelbrot", mandelbrot<double>},
      {"mandelbrot_float32", mandelbrot<float>},
      {"logistic_regression", logistic_regression<double>},
      {"logistic_regression_float32", logistic_regression<float>},
      {"jacobi", jacobi<double>},
      {"jacobi_float32", jacobi<float>},
      {"heat", heat},
      {"life", life},
      {"nbody", nbody},
      {"stencil27", stencil27<double>},
      {"stencil27_float32", stencil27<float>},
      {"runge_kutta", runge_kutta},
      {"monte_carlo", monte_carlo},
      {"tridiagonal", tridiagonal}};
  for (const auto& [name, program] : programs)
    if (argc > 2 && name == argv[1])
      std::printf("%.12f\n", program(std::atoll(argv[2]), argc > 3 ? std::atoll(argv[3]) : 0));
}
