#include "compiler/sweep/point_key.hpp"

#include <algorithm>
#include <numeric>

#include "compiler/sweep/hash.hpp"
#include "compiler/sweep/json_text.hpp"

namespace raddle::sweep {
namespace {

// A part and its end, so that no two lists of parts give one text.
void add(std::string& text, std::string_view part) {
  text += part;
  text += '\0';
}

}  // namespace

PointKeys::PointKeys(const std::vector<std::string>& work, const std::vector<Parameter>& parameters, bool uses_seed)
    : parameters_(parameters), by_name_(parameters.size()), uses_seed_(uses_seed) {
  for (const std::string& word : work) add(work_, word);
  add(work_, "");
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::ranges::sort(by_name_, {}, [&](std::size_t i) { return parameters[i].name; });
}

vm::PointKey PointKeys::of(const Point& point) const {
  std::string text = work_;
  for (const std::size_t i : by_name_) {
    add(text, parameters_[i].name);
    add(text, point.values[i]);
  }
  if (uses_seed_) add(text, std::to_string(point.seed));
  const Hash128 key = hash(text);
  return {key.high, key.low};
}

std::string parameters_json(const std::vector<Parameter>& parameters, const Point& point) {
  JsonObject object;
  for (std::size_t i = 0; i < parameters.size(); ++i) object.add_text(parameters[i].name, point.values[i]);
  return object.text();
}

}  // namespace raddle::sweep
