#pragma once
// updateable_float: a mutable accumulator; reading takes the value of that moment.
#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <span>
#include <utility>

#include "vm/value/value.hpp"

namespace raddle::vm {

class Updateable final : public HeapObject {
 public:
  enum class Mode : std::uint8_t { increment, minimum, scale };
  explicit Updateable(double value) : value_(value) {}
  double get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void update(Mode mode, double operand) {
    const std::lock_guard lock(mutex_);
    value_ = combined(mode, value_, operand);
  }
  /// As many updates, in any order: eight at a time, for vector instructions.
  void update(Mode mode, std::span<const double> operands) {
    constexpr std::size_t lane_count = 8;
    const double neutral = mode == Mode::increment ? 0 : mode == Mode::minimum ? INFINITY : 1;
    std::array<double, lane_count> lanes;
    lanes.fill(neutral);
    std::size_t i = 0;
    for (; i + lane_count <= operands.size(); i += lane_count)
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        lanes[lane] = combined(mode, lanes[lane], operands[i + lane]);
    for (; i < operands.size(); ++i) lanes[0] = combined(mode, lanes[0], operands[i]);
    double all = lanes[0];
    for (std::size_t lane = 1; lane < lane_count; ++lane) all = combined(mode, all, lanes[lane]);
    update(mode, all);
  }

 private:
  static double combined(Mode mode, double value, double operand) {
    switch (mode) {
      case Mode::increment: return value + operand;
      case Mode::minimum: return std::min(value, operand);
      case Mode::scale: return value * operand;
    }
    std::unreachable();
  }

  mutable std::mutex mutex_;
  double value_;
};

inline Updateable& Value::as_updateable() const { return *static_cast<Updateable*>(object()); }

}  // namespace raddle::vm
