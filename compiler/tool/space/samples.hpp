#pragma once
// Points drawn from distributions, each computed from its number alone.
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/tool/space/distribution.hpp"
#include "compiler/tool/space/permutation.hpp"

namespace raddle::sweep {

enum class SampleMethod : std::uint8_t {
  random,           ///< the first points stay when there are more
  latin_hypercube,  ///< each parameter's values fill `count` intervals of equal probability; others for another count
  sobol,            ///< the first points stay when there are more
};

class Samples {
 public:
  /// @param distributions  sobol: most_sobol_dimensions at most
  Samples(SampleMethod method, std::uint64_t count, std::vector<Distribution> distributions, std::uint64_t seed);
  std::uint64_t size() const { return count_; }
  unsigned dimensions() const { return static_cast<unsigned>(distributions_.size()); }
  double at(std::uint64_t index, unsigned dimension) const;

 private:
  SampleMethod method_;
  std::uint64_t count_, seed_;
  std::vector<Distribution> distributions_;
  std::vector<Permutation> strata_;  ///< of latin_hypercube, one for each dimension
};

}  // namespace raddle::sweep
