#include "compiler/tool/space/sobol.hpp"

#include <array>

namespace raddle::sweep {
namespace {

struct Polynomial {
  unsigned degree, coefficients;
  std::array<std::uint32_t, 7> first;  // initial direction numbers, as many as the degree
};

constexpr std::array<Polynomial, most_sobol_dimensions - 1> polynomials = {{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
}};

using Directions = std::array<std::array<std::uint32_t, 32>, most_sobol_dimensions>;

constexpr Directions make_directions() {
  Directions all{};
  for (unsigned bit = 0; bit < 32; ++bit) all[0][bit] = 1u << (31 - bit);
  for (unsigned dimension = 1; dimension < most_sobol_dimensions; ++dimension) {
    const Polynomial& polynomial = polynomials[dimension - 1];
    auto& own = all[dimension];
    const unsigned degree = polynomial.degree;
    for (unsigned bit = 0; bit < 32; ++bit) {
      if (bit < degree) {
        own[bit] = polynomial.first[bit] << (31 - bit);
        continue;
      }
      own[bit] = own[bit - degree] ^ own[bit - degree] >> degree;
      for (unsigned k = 1; k < degree; ++k)
        if ((polynomial.coefficients >> (degree - 1 - k) & 1) != 0) own[bit] ^= own[bit - k];
    }
  }
  return all;
}

constexpr Directions directions = make_directions();

}  // namespace

std::uint32_t sobol(std::uint64_t index, unsigned dimension) {
  std::uint32_t number = 0;
  std::uint64_t gray = index ^ index >> 1;
  for (unsigned bit = 0; gray != 0 && bit < 32; ++bit, gray >>= 1)
    if ((gray & 1) != 0) number ^= directions[dimension][bit];
  return number;
}

}  // namespace raddle::sweep
