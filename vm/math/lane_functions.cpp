#include "vm/math/lane_functions.hpp"

namespace raddle::vm::math {

#define RADDLE_FOR_PROCESSOR(name, is_possible)   \
  namespace name {                                \
  std::span<const LaneFunction> lane_functions(); \
  }
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR

std::span<const LaneFunction> lane_functions(Processor processor) {
  switch (processor) {
#define RADDLE_FOR_PROCESSOR(name, is_possible) \
  case Processor::name:                         \
    return name::lane_functions();
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR
  }
  return {};
}

std::span<const LaneFunction> lane_functions() {
  static const std::span<const LaneFunction> all = lane_functions(this_processor());
  return all;
}

const LaneFunction* lane_function(std::string_view name, int argument_count) {
  for (const LaneFunction& function : lane_functions())
    if (function.name == name && function.argument_count == argument_count) return &function;
  return nullptr;
}

}  // namespace raddle::vm::math
