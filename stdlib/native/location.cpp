// Where tasks can run: one host, whose workers are the ranks 0, 1, ...
#include <fmt/format.h>
#include <unistd.h>

#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/numbers/random_stream.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

Value random_rank(Call call) {
  const std::uint64_t rank = RandomStream(call.settings.seed, call.stream).next_below(call.settings.workers);
  return Value::of(static_cast<std::int64_t>(rank));
}

}  // namespace

Result random_worker_rank(Call call, Arguments, Results results) { return give(results, random_rank(call)); }

// A rank of the host of this name.
Result hostmap_one_rank(Call call, Arguments arguments, Results results) {
  const std::string& wanted = arguments[0].as_string();
  if (wanted == host_name() || wanted == "localhost") return give(results, random_rank(call));
  return fail(fmt::format("there is no host '{}' in this run; hostmapList() tells those that there are", wanted));
}

Result hostmap_list(Call, Arguments, Results results) { return give(results, string_array({host_name()})); }

// The lowest rank of each host.
Result hostmap_leaders(Call, Arguments, Results results) {
  return give(results, dense_array({Value::of(std::int64_t{0})}));
}

}  // namespace raddle::stdlib::native
