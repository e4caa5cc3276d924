#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sweep/space.hpp"

namespace raddle::sweep {

/// The values of many points as texts. Those of parameters that have no more than some 100,000 are made once.
class ValueTexts {
 public:
  explicit ValueTexts(const Space& space);
  /// @param values  gets Point::values; the views are valid until the next call
  void read(std::uint64_t number, std::vector<std::string_view>& values);

 private:
  const Space& space_;
  std::vector<std::vector<std::string>> known_;  // by parameter; empty: too many
  std::vector<std::string> others_;              // values of the last point that are not known
};

}  // namespace raddle::sweep
