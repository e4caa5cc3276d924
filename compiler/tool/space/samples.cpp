#include "compiler/tool/space/samples.hpp"

#include <algorithm>

#include "compiler/tool/space/sobol.hpp"
#include "vm/math/random.hpp"

namespace raddle::sweep {
namespace {

// In (0, 1), never at an end.
double random_unit(std::uint64_t seed, std::uint64_t index, unsigned dimension) {
  const std::uint64_t stream = std::uint64_t{0x5357} << 32 | dimension;
  return (static_cast<double>(vm::math::philox(seed, stream, index).first >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

Samples::Samples(SampleMethod method, std::uint64_t count, std::vector<Distribution> distributions, std::uint64_t seed)
    : method_(method), count_(count), seed_(seed), distributions_(std::move(distributions)) {
  if (method_ != SampleMethod::latin_hypercube) return;
  for (std::uint64_t i = 0; i < distributions_.size(); ++i)
    strata_.emplace_back(count_, seed_ + 0x9E3779B97F4A7C15 * i);
}

double Samples::at(std::uint64_t index, unsigned dimension) const {
  double unit = 0;
  switch (method_) {
    case SampleMethod::random: unit = random_unit(seed_, index, dimension); break;
    case SampleMethod::latin_hypercube:
      unit = (static_cast<double>(strata_[dimension].at(index)) + random_unit(seed_, index, dimension)) /
             static_cast<double>(count_);
      unit = std::clamp(unit, 0x1p-53, 1 - 0x1p-53);
      break;
    case SampleMethod::sobol: {
      // A shift of the digits, by the seed: it keeps how the points fill the space, and none is at an end.
      const auto shift = static_cast<std::uint32_t>(random_unit(seed_, ~std::uint64_t{0}, dimension) * 0x1p32);
      unit = (static_cast<double>(sobol(index, dimension) ^ shift) + 0.5) * 0x1p-32;
      break;
    }
  }
  return distributions_[dimension].quantile(unit);
}

}  // namespace raddle::sweep
