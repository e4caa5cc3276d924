#include "compiler/tool/space/point_key.hpp"

#include <cstring>

#include "compiler/tool/formats/json_text.hpp"
#include "compiler/tool/formats/scan.hpp"

namespace raddle::sweep {
namespace {

constexpr std::uint64_t seed_name = 1;  // in place of a name's hash: it is no parameter

// A part and its end, so that no two lists of parts give one text.
void add(std::string& text, std::string_view part) {
  text += part;
  text += '\0';
}

}  // namespace

PointKeys::PointKeys(const std::vector<std::string>& work, const std::vector<Parameter>& parameters, bool uses_seed)
    : uses_seed_(uses_seed) {
  std::string text;
  for (const std::string& part : work) add(text, part);
  work_ = vm::hash(text);
  for (const Parameter& parameter : parameters) {
    names_.push_back(vm::hash(parameter.name).low);
    read_as_.push_back(parameter.read_as);
  }
}

vm::Hash128 PointKeys::of_value(std::size_t parameter, std::string_view text) const {
  const auto of_bits = [&](auto value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return vm::hash({bytes, sizeof value}, names_[parameter]);
  };
  switch (read_as_[parameter]) {
    case ValueType::string: break;
    case ValueType::float_:
      if (const std::optional<double> number = read_number(text)) return of_bits(*number);
      break;
    case ValueType::int_:
      if (type_of(text) == ValueType::int_) return of_bits(read_int(text));
      break;
  }
  return vm::hash(text, names_[parameter]);
}

vm::PointKey PointKeys::of(const Point& point) const {
  vm::Hash128 key = work_;
  for (std::size_t i = 0; i < names_.size(); ++i) key += of_value(i, point.values[i]);
  if (uses_seed_) key += vm::hash(std::to_string(point.seed), seed_name);
  return {key.high, key.low};
}

PointKeys PointKeys::with_work(const vm::Hash128& work) const {
  PointKeys keys = *this;
  keys.work_ = work;
  return keys;
}

std::string parameters_json(const std::vector<Parameter>& parameters, const Point& point) {
  JsonObject object;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    object.add(parameters[i].name, parameters[i].cell_type == CellType::string ? json_string(point.values[i])
                                                                               : json_value(point.values[i]));
  return object.text();
}

}  // namespace raddle::sweep
