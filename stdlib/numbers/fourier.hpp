#pragma once
// The discrete Fourier transform, of any length: y[k] = sum over j of x[j] e^(-2 pi i j k / n).
#include <cstddef>
#include <vector>

namespace raddle::stdlib::native {

struct Complex {
  double re = 0, im = 0;
};
using ComplexNumbers = std::vector<Complex>;

/// n log n operations for each n. Errors are a few ulp, times log n, of the length of the vector x.
ComplexNumbers fourier_transform(ComplexNumbers x);
/// The same of each column of a matrix, row after row. The bits are those of the columns one by one.
/// @pre x.size() is a multiple of `columns`
ComplexNumbers fourier_transform_columns(ComplexNumbers x, std::size_t columns);
/// The x of a y.
ComplexNumbers inverse_fourier_transform(ComplexNumbers y);

/// Of numbers without imaginary parts: y[0] to y[n / 2], as the others are the conjugates of these.
ComplexNumbers real_fourier_transform(const std::vector<double>& x);
/// The x of these. @param n  how many, of which y.size() is half, rounded down, and 1
std::vector<double> inverse_real_fourier_transform(const ComplexNumbers& y, std::size_t n);

}  // namespace raddle::stdlib::native
