#pragma once
// updateable_float: a mutable accumulator; reading takes the value of that moment.
#include <algorithm>
#include <mutex>

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
    switch (mode) {
      case Mode::increment: value_ += operand; break;
      case Mode::minimum: value_ = std::min(value_, operand); break;
      case Mode::scale: value_ *= operand; break;
    }
  }

 private:
  mutable std::mutex mutex_;
  double value_;
};

inline Updateable& Value::as_updateable() const { return *static_cast<Updateable*>(object()); }

}  // namespace raddle::vm
