#include "vm/math/block_reductions.hpp"

namespace raddle::vm::math {

#define RADDLE_FOR_PROCESSOR(name, is_possible)  \
  namespace name {                               \
  extern const BlockReductions block_reductions; \
  }
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR

const BlockReductions& block_reductions(Processor processor) {
  switch (processor) {
#define RADDLE_FOR_PROCESSOR(name, is_possible) \
  case Processor::name:                         \
    return name::block_reductions;
#include "vm/math/processors.def"
#undef RADDLE_FOR_PROCESSOR
  }
  return baseline::block_reductions;
}

}  // namespace raddle::vm::math
