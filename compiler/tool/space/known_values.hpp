#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/space/space.hpp"

namespace raddle::sweep {

/// The texts of the values of each parameter that has no more than some 100,000, made once for all who need them.
/// Immutable: any thread.
class KnownValues {
 public:
  explicit KnownValues(const Space& space);
  /// By index of the value; empty: too many, or the space has repeats, so that a point's seed comes of all its values.
  const std::vector<std::string>& of(std::size_t parameter) const { return texts_[parameter]; }

 private:
  std::vector<std::vector<std::string>> texts_;
};

/// The values of one point after the other as texts.
class ValueTexts {
 public:
  ValueTexts(const Space& space, const KnownValues& known)
      : space_(space), known_(known), others_(space.parameters().size()) {}
  /// @param values  gets Point::values; the views are valid until the next call
  void read(std::uint64_t number, std::vector<std::string_view>& values);

 private:
  const Space& space_;
  const KnownValues& known_;
  std::vector<std::string> others_;  // values of the last point that are not known
};

}  // namespace raddle::sweep
