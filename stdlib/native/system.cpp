// system, system1: a program's output as a string.
#include "stdlib/native/command_line.hpp"
#include "stdlib/native/elements.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/programs.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

Result run(Call call, std::vector<std::string> words) {
  if (words.empty()) return fail("system: there is no command");
  const auto finish = [](const vm::ProcessResult& result, std::string output) -> vm::BuiltinOutcome {
    if (output.ends_with('\n')) output.pop_back();
    return std::vector{Value::of(std::move(output)), Value::of(std::int64_t{shell_exit_code(result)})};
  };
  return start_and_capture(call, std::move(words), finish);
}

}  // namespace

Result system_(Call call, Arguments arguments, Results) {
  std::vector<std::string> words;
  for (const Value& word : elements(arguments[0])) words.push_back(vm::to_text(word));
  return run(call, std::move(words));
}

Result system1(Call call, Arguments arguments, Results) {
  std::expected<std::vector<std::string>, std::string> words = command_of_line(arguments[0].as_string());
  return words ? run(call, std::move(*words)) : fail("system1: " + words.error());
}

}  // namespace raddle::stdlib::native
