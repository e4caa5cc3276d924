#pragma once
// Numbers of 113 bits, in software: values of `lin` and `log` are the nearest floats of what they are in decimal, on
// any machine, with any C library.
#include <cstdint>

namespace raddle::sweep {

__extension__ using Quad = __float128;

/// `mantissa * 10^exponent`.
Quad quad_of(std::int64_t mantissa, long exponent);
/// Natural. @pre positive, and a float is near it
Quad log(Quad number);
/// @pre a float is near the result
Quad exp(Quad number);

}  // namespace raddle::sweep
