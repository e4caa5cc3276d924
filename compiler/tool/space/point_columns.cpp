#include "compiler/tool/space/point_columns.hpp"

#include <charconv>

#include "compiler/tool/formats/scan.hpp"
#include "vm/value/text.hpp"

namespace raddle::sweep {
namespace {

/// Also `inf` and `nan`.
double read_float(std::string_view text) { return vm::float_of_text(text).value_or(0); }

}  // namespace

PointColumns::PointColumns(const Space& space, const PointKeys& keys, const KnownValues& values)
    : space_(space), keys_(keys), known_(space.parameters().size()) {
  for (std::size_t parameter = 0; parameter < known_.size(); ++parameter) {
    Known& known = known_[parameter];
    for (const std::string& text : values.of(parameter)) {
      known.hashes.push_back(keys.of_value(parameter, text).low);
      known.floats.push_back(read_float(text));
      known.ints.push_back(read_int(text));
    }
  }
}

std::vector<std::uint64_t> PointColumns::keys(std::span<const std::uint64_t> numbers) const {
  if (space_.has_repeats() || keys_.uses_seed()) {
    std::vector<std::uint64_t> keys;
    keys.reserve(numbers.size());
    for (const std::uint64_t number : numbers) keys.push_back(keys_.of(space_.point(number)).low);
    return keys;
  }
  std::vector<std::uint64_t> keys(numbers.size(), keys_.work().low);
  for (std::size_t parameter = 0; parameter < known_.size(); ++parameter) {
    const std::vector<std::uint64_t>& hashes = known_[parameter].hashes;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::uint64_t index = space_.value_index(parameter, numbers[i]);
      keys[i] += hashes.empty() ? keys_.of_value(parameter, space_.value(parameter, index)).low : hashes[index];
    }
  }
  return keys;
}

template <typename Number, typename Read>
std::vector<Number> PointColumns::column(std::size_t parameter, std::span<const std::uint64_t> numbers,
                                         const std::vector<Number> Known::*known, const Read& read) const {
  std::vector<Number> values;
  values.reserve(numbers.size());
  const std::vector<Number>& all = known_[parameter].*known;
  for (const std::uint64_t number : numbers) {
    if (!all.empty())
      values.push_back(all[space_.value_index(parameter, number)]);
    else if (space_.has_repeats())
      values.push_back(read(space_.point(number).values[parameter]));
    else
      values.push_back(read(space_.value(parameter, space_.value_index(parameter, number))));
  }
  return values;
}

std::vector<double> PointColumns::floats(std::size_t parameter, std::span<const std::uint64_t> numbers) const {
  return column(parameter, numbers, &Known::floats, read_float);
}

std::vector<std::int64_t> PointColumns::seeds(std::span<const std::uint64_t> numbers) const {
  std::vector<std::int64_t> seeds;
  seeds.reserve(numbers.size());
  for (const std::uint64_t number : numbers) seeds.push_back(static_cast<std::int64_t>(space_.point(number).seed));
  return seeds;
}

std::vector<std::int64_t> PointColumns::ints(std::size_t parameter, std::span<const std::uint64_t> numbers) const {
  return column(parameter, numbers, &Known::ints, read_int);
}

}  // namespace raddle::sweep
