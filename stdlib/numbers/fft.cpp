// The Fourier transforms of the module arrays: complex numbers are two arrays, their real and imaginary parts.
#include <fmt/format.h>

#include <utility>

#include "stdlib/native/elements.hpp"
#include "stdlib/numbers/fourier.hpp"
#include "stdlib/native/functions.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

void give_parts(Results results, const ComplexNumbers& numbers) {
  std::vector<double> re, im;
  re.reserve(numbers.size());
  im.reserve(numbers.size());
  for (const Complex& each : numbers) {
    re.push_back(each.re);
    im.push_back(each.im);
  }
  results[0] = number_array(std::move(re));
  results[1] = number_array(std::move(im));
}

std::expected<ComplexNumbers, std::string> numbers_of(const char* function, const Value& re, const Value& im) {
  const std::size_t found = im.as_array().size();
  ComplexNumbers all;
  all.reserve(re.as_array().size());
  visit_numbers<double>(re, [&](double part) { all.push_back({part, 0}); });
  if (found != all.size())
    return std::unexpected(fmt::format("{}: {} real parts, {} imaginary parts", function, all.size(), found));
  std::size_t i = 0;
  visit_numbers<double>(im, [&](double part) { all[i++].im = part; });
  return all;
}

ComplexNumbers transposed(const ComplexNumbers& x, std::size_t columns) {
  const std::size_t rows = columns == 0 ? 0 : x.size() / columns;
  ComplexNumbers y(x.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
  return y;
}

}  // namespace

Result fft(Call, Arguments arguments, Results results) {
  auto x = numbers_of("fft", arguments[0], arguments[1]);
  if (!x) return fail(x.error());
  give_parts(results, fourier_transform(std::move(*x)));
  return {};
}

Result fft_columns(Call, Arguments arguments, Results results) {
  auto x = numbers_of("fft2", arguments[0], arguments[1]);
  if (!x) return fail(x.error());
  give_parts(results, fourier_transform_columns(std::move(*x), static_cast<std::size_t>(arguments[2].as_int())));
  return {};
}

Result fft_matrix(Call, Arguments arguments, Results results) {
  const auto x = numbers_of("fft2", arguments[0], arguments[1]);
  if (!x) return fail(x.error());
  const auto columns = static_cast<std::size_t>(arguments[2].as_int());
  const std::size_t rows = columns == 0 ? 0 : x->size() / columns;
  ComplexNumbers of_rows = fourier_transform_columns(transposed(*x, columns), rows);
  give_parts(results, fourier_transform_columns(transposed(of_rows, rows), columns));
  return {};
}

Result ifft(Call, Arguments arguments, Results results) {
  auto y = numbers_of("ifft", arguments[0], arguments[1]);
  if (!y) return fail(y.error());
  give_parts(results, inverse_fourier_transform(std::move(*y)));
  return {};
}

Result rfft(Call, Arguments arguments, Results results) {
  give_parts(results, real_fourier_transform(numbers<double>(arguments[0])));
  return {};
}

Result irfft(Call, Arguments arguments, Results results) {
  const auto y = numbers_of("irfft", arguments[0], arguments[1]);
  if (!y) return fail(y.error());
  const std::int64_t count = arguments[2].as_int();
  if (count < 0) return fail(fmt::format("irfft: {} numbers", count));
  const std::size_t wanted = count == 0 ? 0 : static_cast<std::size_t>(count) / 2 + 1;
  if (wanted != y->size())
    return fail(fmt::format("irfft: {} numbers are made of {}, found {}", count, wanted, y->size()));
  return give(results, number_array(inverse_real_fourier_transform(*y, static_cast<std::size_t>(count))));
}

}  // namespace raddle::stdlib::native
