#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/sweep/space.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// Tells what a point asks for: equal keys are the same work, whatever sweep they belong to. The order in which
/// parameters are given plays no part, nor does the point's number.
class PointKeys {
 public:
  /// @param work  what is done at a point: the words of the command
  /// @param uses_seed  the work depends on Point::seed even if that is no parameter
  PointKeys(const std::vector<std::string>& work, const std::vector<Parameter>& parameters, bool uses_seed);
  vm::PointKey of(const Point& point) const;

 private:
  const std::vector<Parameter>& parameters_;
  std::string work_;
  std::vector<std::size_t> by_name_;  // parameters, sorted
  bool uses_seed_;
};

/// The point's values as a JSON object; numbers are written as they are given.
std::string parameters_json(const std::vector<Parameter>& parameters, const Point& point);

}  // namespace raddle::sweep
