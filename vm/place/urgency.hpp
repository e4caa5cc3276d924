#pragma once
// The order of tasks where only priorities count.
#include <compare>
#include <cstdint>

#include "vm/place/placed_task.hpp"

namespace raddle::vm {

/// The most urgent task is the least: that of the highest priority, of several the first one to be released.
struct Urgency {
  std::int32_t priority = 0;
  std::uint32_t arrival = 0;
  TaskId id = 0;
  std::strong_ordering operator<=>(const Urgency& other) const {
    const std::strong_ordering priorities = other.priority <=> priority;
    return priorities != 0 ? priorities : arrival <=> other.arrival;
  }
  bool operator==(const Urgency& other) const { return (*this <=> other) == 0; }
};
inline Urgency urgency_of(TaskId id, const PlacedTask& task) {
  return {.priority = task.priority, .arrival = task.arrival, .id = id};
}

}  // namespace raddle::vm
