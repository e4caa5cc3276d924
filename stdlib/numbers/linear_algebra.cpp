// What the module arrays has of linear algebra: matrices come row by row, with their extents.
#include "stdlib/numbers/linear_algebra.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <expected>
#include <limits>
#include <string>
#include <utility>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/matrix_vector.hpp"
#include "vm/memory/memory_limit.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

const LinearAlgebra& methods() {
  const LinearAlgebra* const by_library = lapack();
  return by_library != nullptr ? *by_library : own_linear_algebra();
}

/// @param extents  of the matrix; one extent: of a vector, which becomes a column
/// @error          the element that is not finite, by its indices
std::expected<ColumnMatrix, std::string> matrix_of(const char* name, const Value& elements, Arguments extents) {
  const auto rows = static_cast<std::size_t>(extents[0].as_int());
  const auto columns = extents.size() == 1 ? 1 : static_cast<std::size_t>(extents[1].as_int());
  if (std::max(rows, columns) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return std::unexpected(fmt::format("`{}` has too many elements", name));
  if (elements.as_array().size() != rows * columns) return std::unexpected(fmt::format("`{}` is not complete", name));
  ColumnMatrix matrix(rows, columns);
  std::size_t i = 0, j = 0;
  const double* strange = nullptr;
  visit_numbers<double>(elements, [&](const double& number) {
    matrix(i, j) = number;
    if (strange == nullptr && !std::isfinite(number)) strange = &matrix(i, j);
    if (++j < columns) return;
    j = 0;
    ++i;
  });
  if (strange == nullptr) return matrix;
  const auto at = static_cast<std::size_t>(strange - matrix.elements.data());
  const std::string index = extents.size() == 1 ? fmt::format("{}", at) : fmt::format("{}, {}", at % rows, at / rows);
  return std::unexpected(fmt::format("`{}[{}]` is {}", name, index, vm::to_text(Value::of(*strange))));
}

Value array_of(const ColumnMatrix& matrix) {
  std::vector<double> rows;
  rows.reserve(matrix.elements.size());
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t j = 0; j < matrix.columns; ++j) rows.push_back(matrix(i, j));
  return number_array(std::move(rows));
}

Result fail_in(const char* function, std::string_view text) { return fail(fmt::format("{}: {}", function, text)); }

/// The matrix is the first argument, its extents the next two.
std::expected<ColumnMatrix, std::string> square_matrix_of(Arguments arguments) {
  const std::int64_t rows = arguments[1].as_int(), columns = arguments[2].as_int();
  if (rows != columns) return std::unexpected(fmt::format("`a` is not square, its shape is [{}, {}]", rows, columns));
  return matrix_of("a", arguments[0], arguments.subspan(1, 2));
}

/// Behind the matrix and its extents: the right side of equations, and its extents.
std::expected<ColumnMatrix, std::string> right_side_of(Arguments arguments) {
  const std::int64_t wanted = arguments[1].as_int(), found = arguments[4].as_int();
  if (wanted != found) return std::unexpected(fmt::format("`a` has {} rows, `b` {}", wanted, found));
  return matrix_of("b", arguments[3], arguments.subspan(4));
}

/// Where the rows of a matrix are that lu() has exchanged.
std::vector<std::int64_t> order_of(const std::vector<int>& pivots, std::size_t rows) {
  std::vector<std::int64_t> order(rows);
  for (std::size_t i = 0; i < rows; ++i) order[i] = static_cast<std::int64_t>(i);
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(order[k], order[static_cast<std::size_t>(pivots[k]) - 1]);
  return order;
}

}  // namespace

Result solve(Call, Arguments arguments, Results results) {
  auto a = square_matrix_of(arguments);
  if (!a) return fail_in("solve", a.error());
  auto b = right_side_of(arguments);
  if (!b) return fail_in("solve", b.error());
  std::vector<int> pivots;
  if (!methods().lu(*a, pivots)) return fail("solve: the matrix is singular");
  methods().solve(*a, pivots, *b);
  return give(results, array_of(*b));
}

Result inv(Call, Arguments arguments, Results results) {
  auto a = square_matrix_of(arguments);
  if (!a) return fail_in("inv", a.error());
  std::vector<int> pivots;
  if (!methods().lu(*a, pivots)) return fail("inv: the matrix is singular");
  ColumnMatrix inverse = ColumnMatrix::identity(a->rows);
  methods().solve(*a, pivots, inverse);
  return give(results, array_of(inverse));
}

Result det(Call, Arguments arguments, Results results) {
  auto a = square_matrix_of(arguments);
  if (!a) return fail_in("det", a.error());
  std::vector<int> pivots;
  double product = methods().lu(*a, pivots) ? 1 : 0;
  for (std::size_t k = 0; k < a->rows && product != 0; ++k) {
    product *= (*a)(k, k);
    if (pivots[k] != static_cast<int>(k) + 1) product = -product;
  }
  return give(results, Value::of(product));
}

Result cholesky(Call, Arguments arguments, Results results) {
  auto a = square_matrix_of(arguments);
  if (!a) return fail_in("cholesky", a.error());
  if (!methods().cholesky(*a)) return fail("cholesky: the matrix is not positive definite");
  for (std::size_t j = 0; j < a->columns; ++j) std::fill_n(a->column(j), j, 0.0);
  return give(results, array_of(*a));
}

/// The order of the rows, L and U.
Result lu(Call, Arguments arguments, Results results) {
  auto a = matrix_of("a", arguments[0], arguments.subspan(1));
  if (!a) return fail_in("lu", a.error());
  std::vector<int> pivots;
  methods().lu(*a, pivots);
  ColumnMatrix lower(a->rows, pivots.size()), upper(pivots.size(), a->columns);
  for (std::size_t j = 0; j < a->columns; ++j) {
    const std::size_t above = std::min(j + 1, pivots.size());
    std::copy_n(a->column(j), above, upper.column(j));
    if (j >= pivots.size()) continue;
    lower(j, j) = 1;
    std::copy_n(a->column(j) + above, a->rows - above, lower.column(j) + above);
  }
  results[0] = number_array(order_of(pivots, a->rows));
  results[1] = array_of(lower);
  results[2] = array_of(upper);
  return {};
}

Result qr(Call, Arguments arguments, Results results) {
  auto a = matrix_of("a", arguments[0], arguments.subspan(1));
  if (!a) return fail_in("qr", a.error());
  results[1] = array_of(methods().qr(*a));
  results[0] = array_of(*a);
  return {};
}

Result svd(Call, Arguments arguments, Results results) {
  auto a = matrix_of("a", arguments[0], arguments.subspan(1));
  if (!a) return fail_in("svd", a.error());
  auto found = methods().svd(std::move(*a));
  if (!found) return fail("svd: no end was found");
  results[0] = array_of(found->u);
  results[1] = number_array(std::move(found->s));
  results[2] = array_of(found->vt);
  return {};
}

Result eigh(Call, Arguments arguments, Results results) {
  auto a = square_matrix_of(arguments);
  if (!a) return fail_in("eigh", a.error());
  auto values = methods().eigh(*a);
  if (!values) return fail("eigh: no end was found");
  results[0] = number_array(std::move(*values));
  results[1] = array_of(*a);
  return {};
}

/// The x for which |a x - b| is least, and of these the shortest.
Result lstsq(Call, Arguments arguments, Results results) {
  auto a = matrix_of("a", arguments[0], arguments.subspan(1, 2));
  if (!a) return fail_in("lstsq", a.error());
  const auto b = right_side_of(arguments);
  if (!b) return fail_in("lstsq", b.error());
  const double longest = static_cast<double>(std::max(a->rows, a->columns));
  const auto found = methods().svd(std::move(*a));
  if (!found) return fail("lstsq: no end was found");
  ColumnMatrix x(found->vt.columns, b->columns);
  const double least = found->s.empty() ? 0 : found->s[0] * longest * std::numeric_limits<double>::epsilon();
  for (std::size_t j = 0; j < b->columns; ++j) {
    for (std::size_t k = 0; k < found->s.size() && found->s[k] > least; ++k) {
      double part = 0;
      for (std::size_t i = 0; i < b->rows; ++i) part += found->u(i, k) * (*b)(i, j);
      part /= found->s[k];
      for (std::size_t i = 0; i < x.rows; ++i) x(i, j) += part * found->vt(k, i);
    }
  }
  return give(results, array_of(x));
}

/// Elements of a dense array that follow each other.
struct Numbers {
  explicit Numbers(const Value& array)
      : first(static_cast<const std::byte*>(array.as_array().packed(count))),
        is_narrow(count != 0 && array.as_array().packed_numbers()->kind() == vm::ValueKind::float32) {}
  const double* wide(std::size_t place) const { return reinterpret_cast<const double*>(first) + place; }
  const float* narrow(std::size_t place) const { return reinterpret_cast<const float*>(first) + place; }

  std::size_t count = 0;
  const std::byte* first;
  bool is_narrow;  ///< of float32
};

struct Product {
  explicit Product(std::size_t count) : numbers(vm::Buffer::make(vm::ValueKind::float_, count)) {}
  double* first() { return static_cast<double*>(numbers->at_index(0)); }
  Value take() { return Value::of_object(vm::ValueKind::array, vm::Array::packed_of(std::move(numbers))); }

  vm::Buffer::Owner numbers;
};

/// Rows of a matrix, from `place` of its elements on, times a vector.
Value product_by_column(const Numbers& a, std::size_t place, const double* x, std::size_t rows, std::size_t columns) {
  Product product(rows);
  if (a.is_narrow)
    multiply_by_column(a.narrow(place), x, rows, columns, product.first());
  else
    multiply_by_column(a.wide(place), x, rows, columns, product.first());
  return product.take();
}

/// A vector times rows of a matrix, from `place` of its elements on.
Value product_by_row(const double* x, const Numbers& a, std::size_t place, std::size_t rows, std::size_t columns) {
  if (columns == 1) return product_by_column(a, place, x, 1, rows);
  Product product(columns);
  if (a.is_narrow)
    multiply_row(x, a.narrow(place), rows, columns, product.first());
  else
    multiply_row(x, a.wide(place), rows, columns, product.first());
  return product.take();
}

Value product_of_matrices(const double* a, const double* b, std::size_t rows, std::size_t inner, std::size_t columns) {
  Product product(rows * columns);
  std::fill_n(product.first(), rows * columns, 0.0);
  if (rows * columns != 0 && inner > 0) methods().multiply(a, b, product.first(), rows, inner, columns);
  return product.take();
}

/// a (of float32 if b is a vector), b, the rows and columns of a, the columns of b; the first row of the product that
/// is wanted, and how many are.
Result matmul(Call, Arguments arguments, Results results) {
  const std::int64_t rows = arguments[2].as_int(), inner = arguments[3].as_int(), columns = arguments[4].as_int(),
                     first = arguments[5].as_int(), wanted = arguments[6].as_int();
  const Numbers a(arguments[0]), b(arguments[1]);
  const auto n = static_cast<std::size_t>(rows), k = static_cast<std::size_t>(inner),
             m = static_cast<std::size_t>(columns), part = static_cast<std::size_t>(wanted);
  if (a.count != n * k || b.count != k * m) return fail("matmul: a matrix is not complete");
  const double bytes = 8.0 * static_cast<double>(part) * static_cast<double>(m);
  if (!vm::fits_in_memory(bytes)) return fail("matmul: " + vm::no_memory_text("a part of the product", bytes));
  const std::size_t place = static_cast<std::size_t>(first) * k;
  if (m == 1) return give(results, product_by_column(a, place, b.wide(0), part, k));
  if (part == 1) return give(results, product_by_row(a.wide(place), b, 0, k, m));
  return give(results, product_of_matrices(a.wide(place), b.wide(0), part, k, m));
}

/// a, b, the elements of a, the columns of b.
Result vector_product(Call, Arguments arguments, Results results) {
  const auto k = static_cast<std::size_t>(arguments[2].as_int()), m = static_cast<std::size_t>(arguments[3].as_int());
  const Numbers a(arguments[0]), b(arguments[1]);
  if (a.count != k || b.count != k * m) return fail("matmul: an array is not complete");
  return give(results, product_by_row(a.wide(0), b, 0, k, m));
}

/// a, or of it only those elements that are wanted; b, the elements of a, the columns of b; the first element and row
/// that are wanted, and how many are.
Result product_of_part(Call, Arguments arguments, Results results) {
  const auto extent = [&](std::size_t i) { return static_cast<std::size_t>(arguments[i].as_int()); };
  const std::size_t k = extent(2), m = extent(3), first = extent(4), wanted = extent(5);
  const Numbers a(arguments[0]), b(arguments[1]);
  if ((a.count != k && a.count != wanted) || b.count != k * m) return fail("matmul: an array is not complete");
  return give(results, product_by_row(a.wide(a.count == k ? first : 0), b, first * m, wanted, m));
}

}  // namespace raddle::stdlib::native
