#pragma once
// Why a future failed: the first cause, shared by everything that depends on it.
#include <compare>
#include <cstddef>
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

/// What is said besides the message.
struct FailureNotes {
  std::vector<std::string> details = {};       ///< what else is known, as lines
  std::optional<CallPlace> other_call = {};    ///< one that the failed call has met
  std::optional<Place> also_assigned_at = {};  ///< the element
  std::string help = {};                       ///< what to do about it
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
