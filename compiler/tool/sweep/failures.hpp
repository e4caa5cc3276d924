#pragma once
// Failures of a sweep, those that look alike told as one.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tool/sweep/runner.hpp"

namespace raddle::sweep {

struct FailureGroup {
  std::string what;  ///< "exit code 3", "signal 11 (Segmentation fault)", "stopped by --timeout"
  std::string line;  ///< the last one of standard error, of the first point of them
  std::uint64_t count = 0;
  Point first;
};

/// "exit code 3"
std::string failure_text(const Attempt& attempt);
/// "exit code 3; 4.1 is too large": with the last line of standard error. "" of what ended well
std::string reason_of(const Attempt& attempt);

/// What messages that say the same of different points have in common: without numbers, and without these values where
/// they stand as words.
std::string message_form(std::string_view message, std::span<const std::string> values);

class Failures {
 public:
  void add(const Point& point, const Attempt& attempt);
  /// The most frequent first.
  std::vector<FailureGroup> groups() const;
  std::size_t group_count() const { return groups_.size(); }

 private:
  std::map<std::pair<std::string, std::string>, FailureGroup> groups_;
};

}  // namespace raddle::sweep
