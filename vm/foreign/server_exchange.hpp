#pragma once
// One call of a function that a process of its own makes: what is asked of the process, and what that answers.
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vm/value/failure.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Threads: one after the other.
class ServerExchange {
 public:
  struct Problem {
    std::string message;
    FailureNotes notes = {};
  };

  virtual ~ServerExchange() = default;
  /// @param inputs  as ForeignFunction::inputs; must live until the last answer   @error they can not be sent
  virtual std::expected<std::string, std::string> request(std::span<const Value> inputs) = 0;
  /// @return what is said to an answer; none: it was the last one
  virtual std::optional<std::string> go_on(const std::string& answer) = 0;
  /// @param answer  the last one   @return a value for each of ForeignFunction::outputs
  virtual std::expected<std::vector<Value>, Problem> finish(const std::string& answer) = 0;
};

}  // namespace raddle::vm
