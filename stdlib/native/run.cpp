// The run as a whole: what waits for values only, and what there is to know about workers and memory.
#include <malloc.h>

#include "stdlib/native/functions.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::stdlib::native {

using vm::Value;

Result make_void(Call, Arguments, Results results) { return give_void(results); }

Result zero(Call, Arguments, Results results) { return give(results, Value::of(std::int64_t{0})); }

Result one(Call, Arguments, Results results) { return give(results, Value::of(std::int64_t{1})); }

Result turbine_workers(Call call, Arguments, Results results) {
  return give(results, Value::of(std::int64_t{call.settings.workers}));
}

Result init_updateable(Call, Arguments arguments, Results results) {
  return give(results,
              Value::of_object(vm::ValueKind::updateable, vm::make_ref<vm::Updateable>(arguments[0].as_float())));
}

// Bytes in use in the heap.
Result mallinfo_(Call, Arguments, Results results) {
  return give(results, Value::of(static_cast<std::int64_t>(mallinfo2().uordblks)));
}

}  // namespace raddle::stdlib::native
