// The run as a whole: what waits for values only, and what there is to know about workers and memory.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "stdlib/native/functions.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::stdlib::native {

using vm::Value;

Result make_void(Call, Arguments, Results results) { return give_void(results); }

Result zero(Call, Arguments, Results results) { return give(results, Value::of(std::int64_t{0})); }

Result one(Call, Arguments, Results results) { return give(results, Value::of(std::int64_t{1})); }

// Of a call's `@location`: the workers of this one machine are the ranks.
Result check_rank(Call call, Arguments arguments, Results) {
  const std::int64_t rank = arguments[0].as_int();
  if (rank >= 0 && rank < std::int64_t{call.settings.workers}) return {};
  return fail(fmt::format("rank {} is no worker: the ranks are 0 to {}", rank, call.settings.workers - 1));
}

// Of a call of a function with a type of work of its own: the environment says how many workers do it.
Result check_work_type(Call, Arguments arguments, Results) {
  std::string variable = "TURBINE_" + arguments[0].as_string() + "_WORKERS";
  std::ranges::transform(variable, variable.begin(), [](unsigned char c) { return std::toupper(c); });
  const char* count = std::getenv(variable.c_str());
  if (count != nullptr && std::atoi(count) > 0) return {};
  return fail(fmt::format("no worker does `{}`: set {}", arguments[0].as_string(), variable));
}

// Of a call's `@par`.
Result check_parallel(Call call, Arguments arguments, Results) {
  const std::int64_t count = arguments[0].as_int();
  if (count >= 1 && count <= std::int64_t{call.settings.workers}) return {};
  return fail(fmt::format("`@par` asks for {} workers: there {} {}", count, call.settings.workers == 1 ? "is" : "are",
                          call.settings.workers));
}

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
