// The run and the system around it: arguments, environment, time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "stdlib/native/functions.hpp"
#include "stdlib/native/script_arguments.hpp"
#include "vm/external/outside.hpp"
#include "vm/value/text.hpp"
#include "vm/value/unix_time.hpp"
#include "vm/value/zero_byte.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

}  // namespace

Result argc(Call call, Arguments, Results results) {
  const std::size_t count = split_arguments(call.settings.arguments).positional.size();
  return give(results, Value::of(static_cast<std::int64_t>(count)));
}

Result args(Call call, Arguments, Results results) {
  return give(results, Value::of(fmt::format("{}", fmt::join(call.settings.arguments, " "))));
}

Result argv(Call call, Arguments arguments, Results results) {
  const ScriptArguments given = split_arguments(call.settings.arguments);
  const std::string key = vm::to_text(arguments[0]);
  const auto found = given.flags.find(key);
  if (found != given.flags.end()) return give(results, Value::of(found->second));
  if (arguments.size() > 1) return give(results, Value::of(vm::to_text(arguments[1])));
  return fail(fmt::format("argv(): The command line did not provide '{}'", key));
}

Result argp(Call call, Arguments arguments, Results results) {
  const std::vector<std::string> given = split_arguments(call.settings.arguments).positional;
  const std::int64_t index = arguments[0].as_int();
  if (index == 0) return give(results, Value::of(call.settings.script_path));
  if (index > 0 && static_cast<std::size_t>(index) <= given.size()) {
    return give(results, Value::of(given[static_cast<std::size_t>(index - 1)]));
  }
  if (arguments.size() > 1) return give(results, Value::of(vm::to_text(arguments[1])));
  return fail(fmt::format("argp({}): there are only {} arguments", index, given.size()));
}

Result argv_contains(Call call, Arguments arguments, Results results) {
  return give(results, Value::of(split_arguments(call.settings.arguments).flags.contains(arguments[0].as_string())));
}

Result argv_accept(Call call, Arguments arguments, Results results) {
  std::vector<std::string> others;
  for (const auto& [key, value] : split_arguments(call.settings.arguments).flags) {
    if (std::ranges::none_of(arguments, [&](const Value& known) { return known.as_string() == key; })) {
      others.push_back(key);
    }
  }
  if (!others.empty()) return fail(fmt::format("argv_accept: not accepted: {}", fmt::join(others, " ")));
  return give_void(results);
}

Result getenv_(Call, Arguments arguments, Results results) {
  const std::string& name = arguments[0].as_string();
  const char* const value = vm::has_zero_byte(name) ? nullptr : std::getenv(name.c_str());
  return give(results, Value::of(std::string(value == nullptr ? "" : value)));
}

Result end_after(Call call, double seconds, std::function<void()> before) {
  const auto end = call.host->end_later();
  auto started = call.host->outside().timers().after(seconds, [end, before = std::move(before)] {
    before();
    end(std::vector{Value::of_void()}, vm::RankWish::any);
  });
  if (!started) end(std::unexpected(std::move(started.error())), vm::RankWish::any);
  return {};
}

Result sleep_(Call call, Arguments arguments, Results results) {
  if (!(arguments[0].as_float() > 0)) return give_void(results);
  return end_after(call, arguments[0].as_float(), [] {});
}

Result clock_(Call, Arguments, Results results) { return give(results, Value::of(vm::unix_time())); }

Result clock_seconds(Call, Arguments, Results results) {
  return give(results, Value::of(static_cast<std::int64_t>(vm::unix_time())));
}

}  // namespace raddle::stdlib::native
