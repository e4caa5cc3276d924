// Linear algebra without LAPACK: elimination, reflections, Jacobi's rotations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stdlib/numbers/linear_algebra.hpp"
#include "vm/math/scalar.hpp"

namespace raddle::stdlib::native {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_sweeps = 60;

double dot(const double* a, const double* b, std::size_t count) { return std::inner_product(a, a + count, b, 0.0); }
void add_multiple(double* to, const double* from, double factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}
/// The length, without overflow.
double length_of(const double* a, std::size_t count) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(a[i]));
  if (largest == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += (a[i] / largest) * (a[i] / largest);
  return largest * std::sqrt(sum);
}

/// The rotation that makes [[a, c], [c, b]] diagonal: the smaller of both angles.
struct Rotation {
  Rotation(double a, double b, double c) {
    const double ratio = (b - a) / (2 * c);
    tangent = std::copysign(1.0, ratio) / (std::abs(ratio) + vm::math::scalar::hypot(1.0, ratio));
    cosine = 1 / vm::math::scalar::hypot(1.0, tangent);
    sine = cosine * tangent;
  }
  void turn(double& x, double& y) const {
    const double before = x;
    x = cosine * before - sine * y;
    y = sine * before + cosine * y;
  }
  void turn(double* x, double* y, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) turn(x[i], y[i]);
  }
  double tangent, cosine, sine;
};

ColumnMatrix transposed(const ColumnMatrix& a) {
  ColumnMatrix result(a.columns, a.rows);
  for (std::size_t j = 0; j < a.columns; ++j)
    for (std::size_t i = 0; i < a.rows; ++i) result(j, i) = a(i, j);
  return result;
}

/// The columns in this order.
ColumnMatrix chosen(const ColumnMatrix& a, const std::vector<std::size_t>& order) {
  ColumnMatrix result(a.rows, order.size());
  for (std::size_t j = 0; j < order.size(); ++j) std::copy_n(a.column(order[j]), a.rows, result.column(j));
  return result;
}

/// Columns `first` and on become unit vectors at right angles to each other and to all before.
void complete_basis(ColumnMatrix& u, std::size_t first) {
  std::size_t candidate = 0;
  for (std::size_t j = first; j < u.columns; ++candidate) {
    double* const column = u.column(j);
    std::fill_n(column, u.rows, 0.0);
    column[candidate] = 1;
    for (int times = 0; times < 2; ++times)
      for (std::size_t k = 0; k < j; ++k) add_multiple(column, u.column(k), -dot(u.column(k), column, u.rows), u.rows);
    const double length = length_of(column, u.rows);
    if (length < 1 / (2 * std::sqrt(static_cast<double>(u.rows)))) continue;
    for (std::size_t i = 0; i < u.rows; ++i) column[i] /= length;
    ++j;
  }
}

class OwnLinearAlgebra final : public LinearAlgebra {
 public:
  void multiply(const double* a, const double* b, double* c, std::size_t n, std::size_t k,
                std::size_t m) const override {
    constexpr std::size_t block = 64;  // so many rows of b, again and again
    for (std::size_t first = 0; first < k; first += block)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = first; j < std::min(first + block, k); ++j)
          add_multiple(c + i * m, b + j * m, a[i * k + j], m);
  }

  bool lu(ColumnMatrix& a, std::vector<int>& pivots) const override {
    const std::size_t steps = std::min(a.rows, a.columns);
    pivots.resize(steps);
    bool is_regular = true;
    for (std::size_t k = 0; k < steps; ++k) {
      double* const left = a.column(k);
      std::size_t pivot = k;
      for (std::size_t i = k + 1; i < a.rows; ++i)
        if (std::abs(left[i]) > std::abs(left[pivot])) pivot = i;
      pivots[k] = static_cast<int>(pivot) + 1;
      if (left[pivot] == 0) {
        is_regular = false;
        continue;
      }
      if (pivot != k)
        for (std::size_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(pivot, j));
      for (std::size_t i = k + 1; i < a.rows; ++i) left[i] /= left[k];
      for (std::size_t j = k + 1; j < a.columns; ++j)
        add_multiple(a.column(j) + k + 1, left + k + 1, -a(k, j), a.rows - k - 1);
    }
    return is_regular;
  }

  void solve(const ColumnMatrix& factors, const std::vector<int>& pivots, ColumnMatrix& b) const override {
    const std::size_t size = factors.rows;
    for (std::size_t j = 0; j < b.columns; ++j) {
      double* const x = b.column(j);
      for (std::size_t k = 0; k < size; ++k) std::swap(x[k], x[pivots[k] - 1]);
      for (std::size_t k = 0; k < size; ++k) add_multiple(x + k + 1, factors.column(k) + k + 1, -x[k], size - k - 1);
      for (std::size_t k = size; k-- > 0;) {
        x[k] /= factors(k, k);
        add_multiple(x, factors.column(k), -x[k], k);
      }
    }
  }

  bool cholesky(ColumnMatrix& a) const override {
    for (std::size_t k = 0; k < a.rows; ++k) {
      if (!(a(k, k) > 0)) return false;
      const double root = std::sqrt(a(k, k));
      double* const left = a.column(k);
      for (std::size_t i = k; i < a.rows; ++i) left[i] /= root;
      left[k] = root;
      for (std::size_t j = k + 1; j < a.rows; ++j) add_multiple(a.column(j) + j, left + j, -left[j], a.rows - j);
    }
    return true;
  }

  ColumnMatrix qr(ColumnMatrix& a) const override {
    const std::size_t steps = std::min(a.rows, a.columns);
    std::vector<double> factors(steps);
    // a column's part below becomes the vector v of the reflection 1 - factor v v^T
    const auto reflect = [&](std::size_t k, double* column) {
      add_multiple(column + k, a.column(k) + k, -factors[k] * dot(a.column(k) + k, column + k, a.rows - k), a.rows - k);
    };
    ColumnMatrix r(steps, a.columns);
    for (std::size_t k = 0; k < steps; ++k) {
      double* const v = a.column(k);
      const double length = length_of(v + k, a.rows - k);
      const bool is_done = k + 1 == a.rows || length_of(v + k + 1, a.rows - k - 1) == 0;
      const double diagonal = is_done ? v[k] : -std::copysign(length, v[k]);
      if (!is_done) {
        const double head = v[k] - diagonal;
        factors[k] = -head / diagonal;
        for (std::size_t i = k + 1; i < a.rows; ++i) v[i] /= head;
        v[k] = 1;
        for (std::size_t j = k + 1; j < a.columns; ++j) reflect(k, a.column(j));
      }
      std::copy_n(v, k, r.column(k));
      r(k, k) = diagonal;
    }
    for (std::size_t j = steps; j < a.columns; ++j) std::copy_n(a.column(j), steps, r.column(j));
    ColumnMatrix q(a.rows, steps);
    for (std::size_t j = 0; j < steps; ++j) {
      q(j, j) = 1;
      for (std::size_t k = steps; k-- > 0;)
        if (factors[k] != 0) reflect(k, q.column(j));
    }
    a = std::move(q);
    return r;
  }

  /// One-sided: columns are turned until all are at right angles to each other.
  std::optional<SingularValues> svd(ColumnMatrix a) const override {
    if (a.rows < a.columns) {
      auto other = svd(transposed(a));
      if (!other) return std::nullopt;
      return SingularValues{transposed(other->vt), std::move(other->s), transposed(other->u)};
    }
    const std::size_t count = a.columns;
    ColumnMatrix v = ColumnMatrix::identity(count);
    double largest = 0;
    for (const double each : a.elements) largest = std::max(largest, std::abs(each));
    const double scale = largest > 0 ? largest : 1;
    for (double& each : a.elements) each /= scale;
    bool is_turning = count > 1;
    for (int sweep = 0; is_turning; ++sweep) {
      if (sweep == most_sweeps) return std::nullopt;
      is_turning = false;
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = i + 1; j < count; ++j) is_turning |= turn_columns(a, v, i, j);
    }
    std::vector<double> lengths(count);
    for (std::size_t j = 0; j < count; ++j) lengths[j] = length_of(a.column(j), a.rows);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return lengths[i] > lengths[j]; });
    SingularValues result{chosen(a, order), std::vector<double>(count), transposed(chosen(v, order))};
    // of columns as short as the errors of the others, only the length says something
    const double least = count == 0 ? 0 : lengths[order[0]] * epsilon;
    std::size_t rank = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const double length = lengths[order[j]];
      result.s[j] = length * scale;
      if (length <= least) continue;
      for (std::size_t i = 0; i < a.rows; ++i) result.u(i, j) /= length;
      rank = j + 1;
    }
    complete_basis(result.u, rank);
    return result;
  }

  std::optional<std::vector<double>> eigh(ColumnMatrix& a) const override {
    const std::size_t size = a.rows;
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    ColumnMatrix v = ColumnMatrix::identity(size);
    const double least = length_of(a.elements.data(), a.elements.size()) * epsilon / (8 * static_cast<double>(size));
    bool is_turning = size > 1;
    for (int sweep = 0; is_turning; ++sweep) {
      if (sweep == most_sweeps) return std::nullopt;
      is_turning = false;
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = i + 1; j < size; ++j) {
          const double beside = a(i, j), first = a(i, i), second = a(j, j);
          if (std::abs(beside) <= least) continue;
          is_turning = true;
          const Rotation rotation(first, second, beside);
          rotation.turn(a.column(i), a.column(j), size);
          for (std::size_t k = 0; k < size; ++k) rotation.turn(a(i, k), a(j, k));
          rotation.turn(v.column(i), v.column(j), size);
          // exact, so that equal eigenvalues come to an end, too
          a(i, j) = a(j, i) = 0;
          a(i, i) = first - rotation.tangent * beside;
          a(j, j) = second + rotation.tangent * beside;
        }
      }
    }
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return a(i, i) < a(j, j); });
    std::vector<double> values(size);
    for (std::size_t j = 0; j < size; ++j) values[j] = a(order[j], order[j]);
    a = chosen(v, order);
    return values;
  }

 private:
  /// @return whether they were not at right angles yet
  static bool turn_columns(ColumnMatrix& a, ColumnMatrix& v, std::size_t i, std::size_t j) {
    const double c = dot(a.column(i), a.column(j), a.rows);
    const double first = dot(a.column(i), a.column(i), a.rows), second = dot(a.column(j), a.column(j), a.rows);
    const double tolerance = epsilon * std::sqrt(static_cast<double>(a.rows));
    // columns that are nothing but errors of the others would turn for ever
    if (std::abs(c) <= tolerance * std::sqrt(first * second) ||
        std::min(first, second) <= 1e-40 * std::max(first, second))
      return false;
    const Rotation rotation(first, second, c);
    rotation.turn(a.column(i), a.column(j), a.rows);
    rotation.turn(v.column(i), v.column(j), v.rows);
    return true;
  }
};

}  // namespace

ColumnMatrix ColumnMatrix::identity(std::size_t size) {
  ColumnMatrix result(size, size);
  for (std::size_t i = 0; i < size; ++i) result(i, i) = 1;
  return result;
}

const LinearAlgebra& own_linear_algebra() {
  static const OwnLinearAlgebra own;
  return own;
}

}  // namespace raddle::stdlib::native
