// The run as a whole: what waits for values only, and what there is to know about workers and memory.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/words.hpp"
#include "vm/value/updateable.hpp"

namespace raddle::stdlib::native {

using vm::Value;

Result make_void(Call, Arguments, Results results) { return give_void(results); }

Result zero(Call, Arguments, Results results) { return give(results, Value::of(std::int64_t{0})); }

Result one(Call, Arguments, Results results) { return give(results, Value::of(std::int64_t{1})); }

// Of a call's `@location`: the workers of this one machine are the ranks, and all of them are of one node.
Result rank_of_location(Call call, Arguments arguments, Results results) {
  const std::int64_t rank = arguments[0].as_int();
  if (rank < 0 || rank >= std::int64_t{call.settings.workers}) {
    return fail(fmt::format("rank {} is no worker: the ranks are 0 to {}", rank, call.settings.workers - 1));
  }
  const bool is_needed = arguments[1].as_string() == "HARD" && arguments[2].as_string() != "NODE";
  const vm::RankWish wish = is_needed ? vm::RankWish{static_cast<std::int32_t>(rank), true} : vm::RankWish();
  return give(results, Value::of(wish.code()));
}

// How many workers do a type of work, as the environment says it.
static std::int64_t workers_of(const std::string& type) {
  const char* const count = std::getenv(fmt::format("TURBINE_{}_WORKERS", type).c_str());
  return count == nullptr ? 0 : std::max(0, std::atoi(count));
}

// Of a call of a function with a type of work of its own: the last ranks do such work, in the order in which the types
// are declared.
Result rank_of_work(Call call, Arguments arguments, Results results) {
  const std::string& type = arguments[0].as_string();
  const std::int64_t count = workers_of(type);
  if (count == 0) return fail(fmt::format("no worker does `{}`: set TURBINE_{}_WORKERS", type, type));
  std::int64_t end = call.settings.workers;
  const std::vector<std::string> types = words_of(arguments[1].as_string());
  for (auto later = types.rbegin(); later != types.rend() && *later != type; ++later) end -= workers_of(*later);
  const auto turn = static_cast<std::int64_t>(call.stream % static_cast<std::uint64_t>(count));
  const std::int64_t rank = std::max<std::int64_t>(0, end - count + turn);
  return give(results, Value::of(vm::RankWish{static_cast<std::int32_t>(rank), true}.code()));
}

// Of a call's `@par`.
Result check_parallel(Call call, Arguments arguments, Results) {
  const std::int64_t count = arguments[0].as_int();
  if (count >= 1 && count <= std::int64_t{call.settings.workers}) return {};
  return fail(fmt::format("`@par` asks for {} workers: there {} {}", count, call.settings.workers == 1 ? "is" : "are",
                          call.settings.workers));
}

// Of a call's, or an app's, `@ok`: exit codes, separated by blanks.
Result codes_text(Call, Arguments arguments, Results results) {
  std::string text;
  for (const Value& code : elements(arguments[0])) {
    if (code.as_int() < 0 || code.as_int() > 255)
      return fail(fmt::format("`@ok` has {}: exit codes are 0 to 255", code.as_int()));
    text += std::to_string(code.as_int()) + " ";
  }
  return text.empty() ? fail("`@ok` has no exit code") : give(results, Value::of(std::move(text)));
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
