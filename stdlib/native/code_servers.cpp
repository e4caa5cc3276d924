// python, python_persist, R: code for processes that run the user's python3 (python_server.py) or R (r_server.R), as
// many as there are workers, started when they are first needed.
//
// Request: a byte 'p' (state is kept) or 'f' (fresh state), the length of the code (8 bytes, little endian), the code,
// the expression. Answer: 'r' and the result, or 'e' and the text of an error, or 'x' and the text of an exception.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "stdlib/module_sources.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/output.hpp"
#include "vm/external/outside.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// Each has processes of its own, so that fresh state does not see what was kept.
struct Language {
  const char* function;
  const char* package;  ///< for messages
  char state;           ///< 'f' or 'p'
  std::vector<std::string> command;
};

std::vector<std::string> python_command() { return {"python3", "-X", "utf8", "-c", std::string(python_server())}; }

std::string request_of(char state, const std::string& code, const std::string& expression) {
  std::string request(1, state);
  const std::uint64_t length = code.size();
  request.append(reinterpret_cast<const char*>(&length), sizeof length);
  return request + code + expression;
}

vm::BuiltinOutcome outcome_of(const Language& language, const vm::ServerAnswer& answer, bool exceptions_are_errors) {
  switch (answer.status) {
    case vm::ServerStatus::answered: break;
    case vm::ServerStatus::not_started:
      return std::unexpected(
          fmt::format("{}: {}; is {} installed?", language.function, answer.error, language.package));
    case vm::ServerStatus::ended:
      return std::unexpected(fmt::format("{}: {}: {}", language.function, language.command[0], answer.error));
  }
  const char kind = answer.bytes.empty() ? 'e' : answer.bytes[0];
  std::string text = answer.bytes.substr(std::min<std::size_t>(1, answer.bytes.size()));
  if (kind == 'r') return std::vector{Value::of(std::move(text))};
  if (kind == 'x' && !exceptions_are_errors) {
    vm::print_stderr("{}: {}\n", language.function, text);
    return std::vector{Value::of(std::string("__EXCEPTION__"))};
  }
  return std::unexpected(fmt::format("{}: {}", language.function, text));
}

/// @param language  lives as long as the run
Result run(Call call, const Language& language, Arguments arguments) {
  flush_output();
  const bool exceptions_are_errors = arguments[2].as_bool();
  call.host->outside()
      .servers(language.function, language.command)
      .ask(request_of(language.state, arguments[0].as_string(), arguments[1].as_string()),
           [end = call.host->end_later(), &language, exceptions_are_errors](const vm::ServerAnswer& answer) {
             end(outcome_of(language, answer, exceptions_are_errors));
           });
  return {};
}

}  // namespace

Result python(Call call, Arguments arguments, Results) {
  static const Language language{"python", "Python 3", 'f', python_command()};
  return run(call, language, arguments);
}

Result python_persist(Call call, Arguments arguments, Results) {
  static const Language language{"python_persist", "Python 3", 'p', python_command()};
  return run(call, language, arguments);
}

Result r_language(Call call, Arguments arguments, Results) {
  static const Language language{
      "R", "R (Debian: r-base-core)", 'p', {"Rscript", "--vanilla", "-e", std::string(r_server())}};
  return run(call, language, arguments);
}

Result python_parallel_persist(Call, Arguments, Results) {
  return fail("not supported yet: Python in several processes of MPI");
}

}  // namespace raddle::stdlib::native
