#include "compiler/sweep/known_values.hpp"

namespace raddle::sweep {
namespace {

constexpr std::uint64_t most_known = 1 << 17;

}  // namespace

KnownValues::KnownValues(const Space& space) : texts_(space.parameters().size()) {
  if (space.has_repeats()) return;
  for (std::size_t parameter = 0; parameter < texts_.size(); ++parameter) {
    const std::uint64_t count = space.value_count(parameter);
    if (count > most_known) continue;
    texts_[parameter].reserve(count);
    for (std::uint64_t index = 0; index < count; ++index) texts_[parameter].push_back(space.value(parameter, index));
  }
}

void ValueTexts::read(std::uint64_t number, std::vector<std::string_view>& values) {
  values.resize(others_.size());
  if (space_.has_repeats()) {
    others_ = space_.point(number).values;
    values.assign(others_.begin(), others_.end());
    return;
  }
  for (std::size_t parameter = 0; parameter < values.size(); ++parameter) {
    const std::uint64_t index = space_.value_index(parameter, number);
    const std::vector<std::string>& known = known_.of(parameter);
    if (known.empty()) others_[parameter] = space_.value(parameter, index);
    values[parameter] = known.empty() ? others_[parameter] : known[index];
  }
}

}  // namespace raddle::sweep
