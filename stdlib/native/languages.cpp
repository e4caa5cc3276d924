// Other languages whose interpreter is started for each call: the result is what the code has printed, without its last
// newline.
#include <fmt/format.h>

#include "stdlib/native/functions.hpp"
#include "stdlib/native/programs.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

struct Language {
  const char* function;  // for messages
  const char* package;   // what to install
};

Result run(Call call, const Language& language, std::vector<std::string> words) {
  const auto finish = [language, program = words[0]](const vm::ProcessResult& result,
                                                     std::string output) -> vm::BuiltinOutcome {
    if (!result.start_error.empty()) {
      return std::unexpected(fmt::format("{}: `{}` could not be started: {}; is {} installed?", language.function,
                                         program, result.start_error, language.package));
    }
    if (const int code = shell_exit_code(result); code != 0) {
      return std::unexpected(fmt::format("{}: `{}` ended with exit code {}", language.function, program, code));
    }
    if (output.ends_with('\n')) output.pop_back();
    return std::vector{Value::of(std::move(output))};
  };
  return start_and_capture(call, std::move(words), finish);
}

// The expression, if there is one, is evaluated after the code.
std::string both(Arguments arguments) {
  std::string code = arguments[0].as_string();
  if (arguments.size() > 1) code += "\n" + arguments[1].as_string();
  return code;
}

}  // namespace

Result javascript(Call call, Arguments arguments, Results) {
  return run(call, {"javascript", "Node.js (Debian: nodejs)"}, {"node", "-e", both(arguments)});
}

Result groovy(Call call, Arguments arguments, Results) {
  return run(call, {"groovy", "Groovy (Debian: groovy)"}, {"groovy", "-e", both(arguments)});
}

Result scala(Call call, Arguments arguments, Results) {
  return run(call, {"scala", "Scala (Debian: scala)"}, {"scala", "-e", both(arguments)});
}

Result clojure(Call call, Arguments arguments, Results) {
  return run(call, {"clojure", "Clojure (Debian: clojure)"}, {"clojure", "-e", both(arguments)});
}

// The value of the code, printed.
Result julia(Call call, Arguments arguments, Results) {
  return run(call, {"julia", "Julia (julialang.org)"},
             {"julia", "-e", "print(include_string(Main, ARGS[1]))", "--", arguments[0].as_string()});
}

}  // namespace raddle::stdlib::native
