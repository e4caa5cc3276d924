#include "compiler/sweep/value_texts.hpp"

namespace raddle::sweep {
namespace {

constexpr std::uint64_t most_known = 1 << 17;

}  // namespace

ValueTexts::ValueTexts(const Space& space) : space_(space), others_(space.parameters().size()) {
  if (space.has_repeats()) return;  // a point's seed comes of all of its values
  known_.resize(space.parameters().size());
  for (std::size_t parameter = 0; parameter < known_.size(); ++parameter) {
    const std::uint64_t count = space.value_count(parameter);
    if (count <= most_known)
      for (std::uint64_t index = 0; index < count; ++index) known_[parameter].push_back(space.value(parameter, index));
  }
}

void ValueTexts::read(std::uint64_t number, std::vector<std::string_view>& values) {
  values.resize(others_.size());
  if (known_.empty()) others_ = space_.point(number).values;
  for (std::size_t parameter = 0; parameter < values.size(); ++parameter) {
    std::string_view& value = values[parameter];
    if (known_.empty()) {
      value = others_[parameter];
      continue;
    }
    const std::uint64_t index = space_.value_index(parameter, number);
    if (!known_[parameter].empty()) {
      value = known_[parameter][index];
    } else {
      others_[parameter] = space_.value(parameter, index);
      value = others_[parameter];
    }
  }
}

}  // namespace raddle::sweep
