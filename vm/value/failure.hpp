#pragma once
// Why a future failed: the first cause, shared by everything that depends on it.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vm/value/value.hpp"

namespace raddle::vm {

/// A range of a script's text: the front end's Span, spelt again because vm includes nothing of the compiler.
struct Place {
  std::uint32_t file = 0, begin = 0, end = 0;
  auto operator<=>(const Place&) const = default;
};

constexpr std::size_t call_chain_limit = 50;  ///< calls kept of a chain

/// A call: where it is, and the calls around it, innermost first.
struct CallPlace {
  Place place;
  std::vector<Place> calls;
  auto operator<=>(const CallPlace&) const = default;
};

/// An iteration of a loop that a failure lies in.
struct FailedIteration {
  Place loop;
  std::string variable;     ///< the loop's, "" for an operation on whole arrays
  std::int64_t number = 0;  ///< what the variable is; of whole arrays which element, row by row
  std::string text;         ///< of the number; of whole arrays "3, 5"
  /// By numbers, so that the first one is told of those that fail alike.
  auto operator<=>(const FailedIteration&) const = default;
};

/// What is said besides the message.
struct FailureNotes {
  std::vector<FailedIteration> iterations = {};  ///< outermost first
  std::vector<std::string> details = {};         ///< what else is known, as lines
  std::optional<CallPlace> other_call = {};      ///< one that the failed call has met
  std::optional<Place> also_assigned_at = {};    ///< the element
  std::string help = {};                         ///< what to do about it
  auto operator<=>(const FailureNotes&) const = default;
};

class Failure final : public HeapObject {
 public:
  Failure(std::string message, Place place) : message(std::move(message)), place(place) {}
  const std::string message;  ///< lower case, no full stop: "division by zero"
  const Place place;          ///< of the operation that failed
  // filled before the failure is shared:
  std::vector<Place> calls;  ///< the calls around it, innermost first, at most call_chain_limit
  FailureNotes notes;
};

inline Value failed_value(Ref<Failure> failure) { return Value::of_object(ValueKind::failure, std::move(failure)); }
inline Failure& as_failure(const Value& value) { return *static_cast<Failure*>(value.object()); }

}  // namespace raddle::vm
