#include "vm/kernel/lane_operations.hpp"

namespace raddle::vm {

#define RADDLE_FOR_PROCESSOR(name, is_possible) \
  namespace name {                              \
  extern const LaneOperations lane_operations;  \
  }
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR

const LaneOperations& lane_operations(math::Processor processor) {
  switch (processor) {
#define RADDLE_FOR_PROCESSOR(name, is_possible) \
  case math::Processor::name:                   \
    return name::lane_operations;
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR
  }
  return baseline::lane_operations;
}

}  // namespace raddle::vm
