#pragma once
// Linear algebra on dense matrices, in two ways: by LAPACK, if the system has it, and by own code.
#include <cstddef>
#include <optional>
#include <vector>

namespace raddle::stdlib::native {

/// A matrix whose columns lie one after the other, as LAPACK wants it.
struct ColumnMatrix {
  ColumnMatrix(std::size_t rows, std::size_t columns) : rows(rows), columns(columns), elements(rows * columns) {}
  static ColumnMatrix identity(std::size_t size);

  double& operator()(std::size_t i, std::size_t j) { return elements[j * rows + i]; }
  double operator()(std::size_t i, std::size_t j) const { return elements[j * rows + i]; }
  double* column(std::size_t j) { return elements.data() + j * rows; }
  const double* column(std::size_t j) const { return elements.data() + j * rows; }

  std::size_t rows, columns;
  std::vector<double> elements;
};

/// a = u * diagonal of s * vt; s is decreasing, its length the smaller extent of a.
struct SingularValues {
  ColumnMatrix u;
  std::vector<double> s;
  ColumnMatrix vt;
};

/// Elements are finite; extents are below 2^31, and may be 0. Threads: any, several at a time.
class LinearAlgebra {
 public:
  virtual ~LinearAlgebra() = default;
  /// c = a b, where all lie row by row: a of [n, k], b of [k, m]. @pre c is 0
  virtual void multiply(const double* a, const double* b, double* c, std::size_t n, std::size_t k,
                        std::size_t m) const = 0;
  /// a = P L U: `a` becomes U and, below its diagonal, L, whose diagonal is 1.
  /// @param pivots  set: row k was exchanged with row pivots[k] - 1, for k = 0, 1, ...
  /// @return        false: U has a zero on its diagonal
  virtual bool lu(ColumnMatrix& a, std::vector<int>& pivots) const = 0;
  /// `b` becomes the x with a x = b. @pre `factors` and `pivots` are of lu(), which returned true
  virtual void solve(const ColumnMatrix& factors, const std::vector<int>& pivots, ColumnMatrix& b) const = 0;
  /// a = L L^T: the lower triangle of `a`, which alone is read, becomes L. @return false: it is not positive definite
  virtual bool cholesky(ColumnMatrix& a) const = 0;
  /// a = q r. @return r; `a` becomes q, whose columns are as many as the smaller extent of a
  virtual ColumnMatrix qr(ColumnMatrix& a) const = 0;
  /// @return none: the method did not converge
  virtual std::optional<SingularValues> svd(ColumnMatrix a) const = 0;
  /// Eigenvalues of a symmetric matrix, of which the lower triangle is read, increasing; `a` becomes the eigenvectors,
  /// a column each. @return none: the method did not converge
  virtual std::optional<std::vector<double>> eigh(ColumnMatrix& a) const = 0;
};

const LinearAlgebra& own_linear_algebra();
/// Of libopenblas.so.0 or liblapack.so.3, loaded at the first call; null: there is neither.
const LinearAlgebra* lapack();

}  // namespace raddle::stdlib::native
