#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "vm/value/hash.hpp"
#include "compiler/tool/space/space.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// Tells what a point asks for: equal keys are the same work, whatever sweep they belong to. The order in which
/// parameters are given plays no part, nor does the point's number.
///
/// A key is the sum of hashes, one of the work and one of each parameter's name and value: so that where few values
/// make many points, each value is hashed once (PointColumns).
class PointKeys {
 public:
  /// @param work  what is done at a point: the words of the command, or the texts of a script
  /// @param uses_seed  the work depends on Point::seed even if that is no parameter
  PointKeys(const std::vector<std::string>& work, const std::vector<Parameter>& parameters, bool uses_seed);
  vm::PointKey of(const Point& point) const;
  /// The keys of the same points where something else is done at each.
  PointKeys with_work(const vm::Hash128& work) const;
  /// Of the work alone.
  const vm::Hash128& work() const { return work_; }
  /// A key is no sum of what the values give alone: of() makes it of the whole point.
  bool uses_seed() const { return uses_seed_; }
  /// Of a value of a parameter, given as it is in Point::values.
  vm::Hash128 of_value(std::size_t parameter, std::string_view text) const;

 private:
  vm::Hash128 work_;
  std::vector<std::uint64_t> names_;  // hashes, by parameter
  bool uses_seed_;
  std::vector<ValueType> read_as_;  // by parameter
};

/// The point's values as a JSON object; numbers are written as they are given, texts that look like some are strings.
std::string parameters_json(const std::vector<Parameter>& parameters, const Point& point);

}  // namespace raddle::sweep
