#include "compiler/tool/space/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "compiler/tool/formats/quantities.hpp"
#include "vm/value/hash.hpp"

namespace raddle::sweep {

std::string values_text(const std::vector<Parameter>& parameters, const Point& point) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", parameters[i].name, shortened(point.values[i]));
  return text;
}

std::uint64_t Space::size_of(const Group& group) {
  if (const auto* zip = std::get_if<Zip>(&group)) return zip->columns.front().size();
  if (const auto* table = std::get_if<CsvTable>(&group)) return table->size();
  return std::get<Samples>(group).size();
}

void Space::append(const Group& group, std::uint64_t index, std::vector<std::string>& values) {
  if (const auto* zip = std::get_if<Zip>(&group)) {
    for (const Values& column : zip->columns) values.push_back(column.at(index));
  } else if (const auto* table = std::get_if<CsvTable>(&group)) {
    for (std::string& cell : table->row(index)) values.push_back(std::move(cell));
  } else {
    const auto& samples = std::get<Samples>(group);
    for (unsigned i = 0; i < samples.dimensions(); ++i) values.push_back(fmt::format("{}", samples.at(index, i)));
  }
}

void Space::find_places() {
  std::uint64_t stride = repeats_ == 0 ? 1 : repeats_;
  std::vector<std::uint64_t> strides(groups_.size());
  for (std::size_t i = groups_.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= size_of(groups_[i]);
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    std::size_t columns = 0;
    if (const auto* zip = std::get_if<Zip>(&groups_[i])) columns = zip->columns.size();
    if (const auto* table = std::get_if<CsvTable>(&groups_[i])) columns = table->columns().size();
    if (const auto* samples = std::get_if<Samples>(&groups_[i])) columns = samples->dimensions();
    for (std::size_t column = 0; column < columns; ++column) places_.push_back({i, column, strides[i]});
  }
}

std::string Space::value(std::size_t parameter, std::uint64_t index) const {
  const Place& place = places_[parameter];
  const Group& group = groups_[place.group];
  if (const auto* zip = std::get_if<Zip>(&group)) return zip->columns[place.column].at(index);
  if (const auto* table = std::get_if<CsvTable>(&group)) return table->row(index)[place.column];
  return fmt::format("{}", std::get<Samples>(group).at(index, static_cast<unsigned>(place.column)));
}

std::uint64_t Space::value_index(std::size_t parameter, std::uint64_t number) const {
  return (number - 1) / places_[parameter].stride % value_count(parameter);
}

std::vector<std::vector<std::string>> Space::all_values(std::uint64_t most) const {
  std::vector<std::vector<std::string>> all(places_.size());
  std::vector<std::string> values;
  std::size_t first = 0;  // parameter of the group
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::uint64_t count = size_of(groups_[i]);
    for (std::uint64_t index = 0; index < count && count <= most; ++index) {  // a table's row is read once
      values.clear();
      append(groups_[i], index, values);
      for (std::size_t column = 0; column < values.size(); ++column)
        all[first + column].push_back(std::move(values[column]));
    }
    while (first < places_.size() && places_[first].group == i) ++first;
  }
  return all;
}

void Space::read_values(std::uint64_t number, std::vector<std::string>& values) const {
  std::uint64_t left = (number - 1) / (repeats_ == 0 ? 1 : repeats_);
  std::vector<std::uint64_t> indices(groups_.size());
  for (std::size_t i = groups_.size(); i-- > 0;) {
    const std::uint64_t size = size_of(groups_[i]);
    indices[i] = left % size;
    left /= size;
  }
  values.clear();
  for (std::size_t i = 0; i < groups_.size(); ++i) append(groups_[i], indices[i], values);
}

std::optional<std::string> Space::lost_in_floats(std::size_t parameter) const {
  const Place& place = places_[parameter];
  const auto* const zip = std::get_if<Zip>(&groups_[place.group]);
  return zip == nullptr ? std::nullopt : zip->columns[place.column].lost_in_floats();
}

std::vector<const Values*> Space::grid() const {
  std::vector<const Values*> all;
  for (const Group& group : groups_) {
    const auto* zip = std::get_if<Zip>(&group);
    if (zip == nullptr || zip->columns.size() != 1 || repeats_ != 0) return {};
    all.push_back(&zip->columns.front());
  }
  return all;
}

void Space::read_values_as(const std::vector<ValueType>& types) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].read_as = types[i];
    if (types[i] == ValueType::int_) parameters_[i].cell_type = CellType::int_;
    if (types[i] == ValueType::float_) parameters_[i].cell_type = CellType::float_;
  }
}

void Space::keep_as_texts(const std::vector<std::string>& names) {
  for (Parameter& parameter : parameters_)
    if (std::ranges::find(names, parameter.name) != names.end()) parameter.cell_type = CellType::string;
}

std::vector<Space::Repeated> Space::repeated(std::uint64_t most_values, bool as_numbers) const {
  std::vector<Repeated> all;
  std::size_t first = 0;  // parameter of the group
  for (const Group& group : groups_) {
    std::vector<std::string> values;
    append(group, 0, values);
    const std::size_t next = first + values.size();
    struct Seen {
      std::uint64_t count = 0;
      std::vector<std::string> first;
      bool are_alike = true;
    };
    std::unordered_map<std::string, Seen> all_seen;
    Repeated found;
    std::string found_key;
    for (std::uint64_t index = 0; index < size_of(group) && size_of(group) <= most_values; ++index) {
      values.clear();
      append(group, index, values);
      std::string key;
      for (std::size_t i = first; i < next; ++i)
        (key += canonical_text(values[i - first], as_numbers ? parameters_[i].type : parameters_[i].read_as)) += '\0';
      Seen& seen = all_seen[key];
      if (++seen.count == 1) seen.first = values;
      seen.are_alike &= seen.first == values;
      if (seen.count != 2 || !found.names.empty()) continue;
      for (std::size_t i = first; i < next; ++i) found.names.push_back(parameters_[i].name);
      found.values = values;
      found_key = key;
    }
    found.count = all_seen[found_key].count;
    found.are_spelled_alike = all_seen[found_key].are_alike;
    if (!found.names.empty()) all.push_back(std::move(found));
    first = next;
  }
  return all;
}

std::string Space::asked(const Point& point) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < point.values.size(); ++i)
    parts.push_back(parameters_[i].name + '\0' + canonical_text(point.values[i], parameters_[i].read_as) + '\0');
  std::ranges::sort(parts);
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

Point Space::point(std::uint64_t number) const {
  const std::uint64_t repeat = (number - 1) % (repeats_ == 0 ? 1 : repeats_) + 1;
  Point point{.number = number, .values = {}};
  point.values.reserve(parameters_.size());
  read_values(number, point.values);
  point.seed = vm::hash(asked(point) + std::to_string(repeat), seed_).low >> 33;
  if (repeats_ != 0) {
    point.values.push_back(std::to_string(repeat));
    point.values.push_back(std::to_string(point.seed));
  }
  return point;
}

}  // namespace raddle::sweep
