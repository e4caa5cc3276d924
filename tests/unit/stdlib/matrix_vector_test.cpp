#include "stdlib/numbers/matrix_vector.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using raddle::stdlib::native::multiply_by_column;
using raddle::stdlib::native::multiply_row;

namespace {

std::vector<double> some_numbers(std::size_t count, unsigned seed) {
  std::mt19937 numbers(seed);
  std::vector<double> all(count);
  for (double& each : all) each = static_cast<double>(numbers()) / 2147483648.0 - 1;
  return all;
}

constexpr std::size_t extents[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 64, 65, 70, 131};

}  // namespace

TEST_CASE("a matrix times a vector, and each row as it is alone") {
  for (const std::size_t rows : extents) {
    for (const std::size_t columns : extents) {
      const std::vector<double> a = some_numbers(rows * columns, 1), x = some_numbers(columns, 2);
      std::vector<double> y(rows, 9.0);
      multiply_by_column(a.data(), x.data(), rows, columns, y.data());
      for (std::size_t i = 0; i < rows; ++i) {
        double expected = 0, alone = 9.0;
        for (std::size_t j = 0; j < columns; ++j) expected += a[i * columns + j] * x[j];
        multiply_by_column(a.data() + i * columns, x.data(), 1, columns, &alone);
        REQUIRE(y[i] == doctest::Approx(expected).epsilon(1e-12));
        REQUIRE(y[i] == alone);
      }
    }
  }
}

TEST_CASE("a vector times a matrix, added in the order of the rows") {
  for (const std::size_t rows : extents) {
    for (const std::size_t columns : extents) {
      const std::vector<double> a = some_numbers(rows * columns, 3), x = some_numbers(rows, 4);
      std::vector<double> y(columns, 9.0), expected(columns, 0.0);
      multiply_row(x.data(), a.data(), rows, columns, y.data());
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) expected[j] = std::fma(x[i], a[i * columns + j], expected[j]);
      REQUIRE(y == expected);
    }
  }
}

TEST_CASE("a matrix of 32 bits comes to what it does widened") {
  for (const std::size_t rows : extents) {
    for (const std::size_t columns : extents) {
      std::vector<double> wide = some_numbers(rows * columns, 5);
      const std::vector<float> narrow(wide.begin(), wide.end());
      wide.assign(narrow.begin(), narrow.end());
      const std::vector<double> x = some_numbers(columns, 6), z = some_numbers(rows, 7);
      std::vector<double> found(rows, 9.0), expected(rows, 8.0), found_row(columns, 9.0), expected_row(columns, 8.0);
      multiply_by_column(narrow.data(), x.data(), rows, columns, found.data());
      multiply_by_column(wide.data(), x.data(), rows, columns, expected.data());
      REQUIRE(found == expected);
      multiply_row(z.data(), narrow.data(), rows, columns, found_row.data());
      multiply_row(z.data(), wide.data(), rows, columns, expected_row.data());
      REQUIRE(found_row == expected_row);
    }
  }
}
