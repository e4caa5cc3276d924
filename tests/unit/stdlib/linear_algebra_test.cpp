// Linear algebra by own code, and by LAPACK where the system has it: the same properties hold of both.
#include "stdlib/numbers/linear_algebra.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <random>

using raddle::stdlib::native::ColumnMatrix;
using raddle::stdlib::native::lapack;
using raddle::stdlib::native::LinearAlgebra;
using raddle::stdlib::native::own_linear_algebra;

namespace {

std::vector<const LinearAlgebra*> both() {
  std::vector<const LinearAlgebra*> all = {&own_linear_algebra()};
  if (lapack() != nullptr) all.push_back(lapack());
  return all;
}

ColumnMatrix random_matrix(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937 numbers(seed);
  ColumnMatrix matrix(rows, columns);
  for (double& each : matrix.elements) each = static_cast<double>(numbers()) / 2147483648.0 - 1;
  return matrix;
}
ColumnMatrix matrix_of(std::size_t size, std::vector<double> columns) {
  ColumnMatrix matrix(size, columns.size() / size);
  matrix.elements = std::move(columns);
  return matrix;
}
ColumnMatrix transposed(const ColumnMatrix& a) {
  ColumnMatrix result(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) result(j, i) = a(i, j);
  return result;
}
ColumnMatrix product(const ColumnMatrix& a, const ColumnMatrix& b) {
  ColumnMatrix result(a.rows, b.columns);
  for (std::size_t j = 0; j < b.columns; ++j)
    for (std::size_t k = 0; k < a.columns; ++k)
      for (std::size_t i = 0; i < a.rows; ++i) result(i, j) += a(i, k) * b(k, j);
  return result;
}
ColumnMatrix scaled(ColumnMatrix a, const std::vector<double>& by) {
  for (std::size_t j = 0; j < a.columns; ++j)
    for (std::size_t i = 0; i < a.rows; ++i) a(i, j) *= by[j];
  return a;
}
ColumnMatrix symmetric(ColumnMatrix a) {
  for (std::size_t j = 0; j < a.columns; ++j)
    for (std::size_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  return a;
}
double distance(const ColumnMatrix& a, const ColumnMatrix& b) {
  REQUIRE(a.rows == b.rows);
  REQUIRE(a.columns == b.columns);
  double largest = 0;
  for (std::size_t i = 0; i < a.elements.size(); ++i)
    largest = std::max(largest, std::abs(a.elements[i] - b.elements[i]));
  return largest;
}
bool has_orthonormal_columns(const ColumnMatrix& a) {
  return distance(product(transposed(a), a), ColumnMatrix::identity(a.columns)) < 1e-13;
}

/// The factors that lu() leaves in one matrix, multiplied, and the rows put back.
ColumnMatrix multiplied(const ColumnMatrix& factors, const std::vector<int>& pivots) {
  ColumnMatrix lower(factors.rows, pivots.size()), upper(pivots.size(), factors.columns);
  for (std::size_t j = 0; j < factors.columns; ++j)
    for (std::size_t i = 0; i < factors.rows; ++i) {
      if (i <= j && i < pivots.size()) upper(i, j) = factors(i, j);
      if (j < pivots.size() && i >= j) lower(i, j) = i == j ? 1 : factors(i, j);
    }
  ColumnMatrix result = product(lower, upper);
  for (std::size_t k = pivots.size(); k-- > 0;)
    for (std::size_t j = 0; j < result.columns; ++j)
      std::swap(result(k, j), result(static_cast<std::size_t>(pivots[k]) - 1, j));
  return result;
}

void check_svd(const LinearAlgebra& methods, const ColumnMatrix& a) {
  const auto found = methods.svd(a);
  REQUIRE(found);
  CHECK(std::ranges::is_sorted(found->s, std::greater()));
  CHECK(distance(product(scaled(found->u, found->s), found->vt), a) < 1e-13);
  CHECK(has_orthonormal_columns(found->u));
  CHECK(has_orthonormal_columns(transposed(found->vt)));
}

void check_eigh(const LinearAlgebra& methods, const ColumnMatrix& a) {
  ColumnMatrix vectors = a;
  const auto values = methods.eigh(vectors);
  REQUIRE(values);
  CHECK(std::ranges::is_sorted(*values));
  CHECK(has_orthonormal_columns(vectors));
  CHECK(distance(product(symmetric(a), vectors), scaled(vectors, *values)) < 1e-13);
}

}  // namespace

TEST_CASE("LAPACK has no threads of its own, and leaves this one its processors") {
  cpu_set_t before, after;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  if (lapack() == nullptr) return;
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
  const std::filesystem::directory_iterator threads("/proc/self/task");
  CHECK(std::distance(begin(threads), end(threads)) == 1);
}

TEST_CASE("factors, multiplied, are the matrix") {
  for (const LinearAlgebra* methods : both())
    for (const std::size_t rows : {1, 2, 3, 7, 20})
      for (const std::size_t columns : {1, 2, 3, 7, 20}) {
        const ColumnMatrix a = random_matrix(rows, columns, static_cast<unsigned>(rows * 100 + columns));
        ColumnMatrix factors = a;
        std::vector<int> pivots;
        CHECK(methods->lu(factors, pivots));
        CHECK(distance(multiplied(factors, pivots), a) < 1e-13);
        ColumnMatrix q = a;
        const ColumnMatrix r = methods->qr(q);
        CHECK(distance(product(q, r), a) < 1e-13);
        CHECK(has_orthonormal_columns(q));
        check_svd(*methods, a);
      }
}

TEST_CASE("products") {
  for (const LinearAlgebra* methods : both())
    for (const std::size_t n : {1, 3, 70})
      for (const std::size_t k : {0, 1, 5, 130})
        for (const std::size_t m : {1, 4, 50}) {
          // row by row they are the transposed matrices
          const ColumnMatrix a = random_matrix(k, n, 1), b = random_matrix(m, k, 2);
          ColumnMatrix c(m, n);
          methods->multiply(a.elements.data(), b.elements.data(), c.elements.data(), n, k, m);
          CHECK(distance(c, product(b, a)) < 1e-12);
        }
}

TEST_CASE("systems of equations") {
  for (const LinearAlgebra* methods : both())
    for (const std::size_t size : {1, 2, 5, 30}) {
      const ColumnMatrix a = random_matrix(size, size, static_cast<unsigned>(size));
      const ColumnMatrix x = random_matrix(size, 3, 1);
      ColumnMatrix b = product(a, x), factors = a;
      std::vector<int> pivots;
      REQUIRE(methods->lu(factors, pivots));
      methods->solve(factors, pivots, b);
      CHECK(distance(b, x) < 1e-10);
    }
}

TEST_CASE("a pivot that is 0 at first is exchanged") {
  for (const LinearAlgebra* methods : both()) {
    ColumnMatrix a = matrix_of(2, {0, 2, 1, 3}), b = matrix_of(2, {1, 5});
    std::vector<int> pivots;
    REQUIRE(methods->lu(a, pivots));
    CHECK(pivots == std::vector<int>{2, 2});
    methods->solve(a, pivots, b);
    CHECK(b.elements == std::vector<double>{1, 1});
  }
}

TEST_CASE("singular matrices are found, and have factors") {
  for (const LinearAlgebra* methods : both()) {
    for (const std::vector<double>& columns : {std::vector<double>{1, 2, 2, 4}, {0, 0, 1, 2}, {0, 0, 0, 0}}) {
      const ColumnMatrix a = matrix_of(2, columns);
      ColumnMatrix factors = a;
      std::vector<int> pivots;
      CHECK(!methods->lu(factors, pivots));
      CHECK(distance(multiplied(factors, pivots), a) == 0);
    }
  }
}

TEST_CASE("Cholesky's factor") {
  for (const LinearAlgebra* methods : both()) {
    for (const std::size_t size : {1, 2, 3, 7, 20}) {
      const ColumnMatrix half = random_matrix(size, size + 2, static_cast<unsigned>(size));
      const ColumnMatrix a = product(half, transposed(half));
      ColumnMatrix factor = a;
      REQUIRE(methods->cholesky(factor));
      for (std::size_t j = 0; j < size; ++j) std::fill_n(factor.column(j), j, 0.0);
      CHECK(distance(product(factor, transposed(factor)), a) < 1e-13);
    }
    for (const std::vector<double>& columns : {std::vector<double>{1, 2, 2, 4}, {0, 0, 0, 1}, {1, 3, 3, 1}}) {
      ColumnMatrix a = matrix_of(2, columns);
      CHECK(!methods->cholesky(a));
    }
  }
}

TEST_CASE("singular values of what is short of rank, large or small") {
  for (const LinearAlgebra* methods : both()) {
    check_svd(*methods, ColumnMatrix(4, 3));
    check_svd(*methods, matrix_of(3, {1, 1, 1, 1, 1, 1, 2, 2, 2}));
    const ColumnMatrix thin = random_matrix(6, 2, 5);
    check_svd(*methods, product(thin, random_matrix(2, 5, 6)));
    const auto found = methods->svd(matrix_of(2, {3e200, 0, 0, 4e-200}));
    REQUIRE(found);
    CHECK(found->s[0] == doctest::Approx(3e200));
    CHECK(found->s[1] == doctest::Approx(4e-200));
  }
}

TEST_CASE("eigenvalues, several of them equal, too") {
  for (const LinearAlgebra* methods : both()) {
    for (const std::size_t size : {1, 2, 3, 7, 20}) {
      check_eigh(*methods, random_matrix(size, size, static_cast<unsigned>(size)));
      check_eigh(*methods, ColumnMatrix::identity(size));
      ColumnMatrix ones(size, size);
      std::ranges::fill(ones.elements, 1.0);
      check_eigh(*methods, ones);
    }
    ColumnMatrix a = matrix_of(2, {2, 1, 99, 2});
    CHECK(methods->eigh(a)->at(1) == doctest::Approx(3));
  }
}

TEST_CASE("matrices without elements") {
  for (const LinearAlgebra* methods : both()) {
    for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 3}, {3, 0}}) {
      ColumnMatrix a(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
      std::vector<int> pivots;
      CHECK(methods->lu(a, pivots));
      CHECK(methods->svd(a)->s.empty());
      ColumnMatrix q = a;
      CHECK(methods->qr(q).columns == static_cast<std::size_t>(columns));
      CHECK(q.columns == 0);
    }
    ColumnMatrix none(0, 0);
    CHECK(methods->cholesky(none));
    CHECK(methods->eigh(none)->empty());
  }
}
