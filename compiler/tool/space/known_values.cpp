#include "compiler/tool/space/known_values.hpp"

#include <utility>

namespace raddle::sweep {
namespace {

constexpr std::uint64_t most_known = 1 << 17;

}  // namespace

KnownValues::KnownValues(const Space& space) : texts_(space.parameters().size()) {
  if (!space.has_repeats()) texts_ = space.all_values(most_known);
}

void ValueTexts::read(std::uint64_t number, std::vector<std::string_view>& values) {
  values.resize(others_.size());
  if (space_.has_repeats()) {
    others_ = space_.point(number).values;
    values.assign(others_.begin(), others_.end());
    return;
  }
  bool are_read = false;
  for (std::size_t parameter = 0; parameter < values.size(); ++parameter) {
    const std::vector<std::string>& known = known_.of(parameter);
    if (known.empty() && !std::exchange(are_read, true)) space_.read_values(number, others_);
    values[parameter] = known.empty() ? others_[parameter] : known[space_.value_index(parameter, number)];
  }
}

}  // namespace raddle::sweep
