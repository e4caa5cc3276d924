// python, python_persist, R: code for processes that run the user's python3 (python_server.py) or R (r_server.R), as
// many as there are workers, started when they are first needed.
//
// Request: a byte 'p' (state is kept) or 'f' (fresh state), the length of the code (8 bytes, little endian), the code,
// the expression. Answer: 'r' and the result, or 'e' and the text of an error, or 'x' and the text of an exception.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <memory>

#include "stdlib/module_sources.hpp"
#include "stdlib/native/code_servers.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/output.hpp"
#include "vm/external/outside.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

/// Each has processes of its own, so that fresh state does not see what was kept.
struct ServedLanguage {
  const char* function;
  const char* package;  ///< for messages
  char state;           ///< 'f' or 'p'
  std::vector<std::string> command;
};

std::vector<std::string> python_command(std::string script) {
  return {"python3", "-X", "utf8", "-c", std::move(script)};
}

/// By the name of the function. The entries live for ever.
const ServedLanguage& language_named(std::string_view function) {
  static const ServedLanguage languages[] = {
      {"python", "Python 3", 'f', python_command(std::string(python_server()))},
      {"python_persist", "Python 3", 'p', python_command(std::string(python_server()))},
      {"R", "R (Debian: r-base-core)", 'p', {"Rscript", "--vanilla", "-e", std::string(r_server())}},
  };
  return *std::ranges::find(languages, function, &ServedLanguage::function);
}

std::string request_of(char state, const std::string& code, const std::string& expression) {
  std::string request(1, state);
  const std::uint64_t length = code.size();
  request.append(reinterpret_cast<const char*>(&length), sizeof length);
  return request + code + expression;
}

using TextOutcome = std::expected<std::string, std::string>;

TextOutcome outcome_of(const ServedLanguage& language, const vm::ServerAnswer& answer, bool exceptions_are_errors) {
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
  if (kind == 'r') return text;
  if (kind == 'x' && !exceptions_are_errors) {
    vm::print_stderr("{}: {}\n", language.function, text);
    return "__EXCEPTION__";
  }
  return std::unexpected(fmt::format("{}: {}", language.function, text));
}

/// @param done  gets the outcome and the rank that has answered
void ask(vm::Outside& outside, const vm::CodeRequest& request, std::function<void(TextOutcome, std::int32_t)> done) {
  flush_output();
  const ServedLanguage& language = language_named(request.function);
  outside.servers(language.function, language.command)
      .ask(request_of(language.state, request.code, request.expression), request.rank,
           [&language, done = std::move(done),
            exceptions_are_errors = request.exceptions_are_errors](const vm::ServerAnswer& answer) {
             done(outcome_of(language, answer, exceptions_are_errors), answer.rank);
           });
}

/// What an error of an unknown name may come of: iterations of loops, and what does not follow on other code, go to any
/// worker's process.
std::string with_hint(std::string error, std::string_view function, unsigned workers) {
  const bool is_unknown_name = error.starts_with("python_persist: NameError") ||
                               (error.starts_with("R: ") && error.find("not found") != std::string::npos);
  if (is_unknown_name && workers > 1)
    error +=
        fmt::format("; each of {} workers has a process of its own for {}: `@location` before both calls takes one",
                    workers, function);
  return error;
}

Result run(Call call, const char* function, Arguments arguments) {
  ask(call.host->outside(),
      {function, arguments[0].as_string(), arguments[1].as_string(), arguments[2].as_bool(), call.rank},
      [end = call.host->end_later(), function, workers = call.settings.workers](TextOutcome outcome,
                                                                                std::int32_t rank) {
        if (outcome)
          end(std::vector{Value::of(std::move(*outcome))}, rank);
        else
          end(std::unexpected(with_hint(std::move(outcome.error()), function, workers)), rank);
      });
  return {};
}

}  // namespace

std::expected<std::string, std::string> run_code(vm::Outside& outside, const vm::CodeRequest& request) {
  auto ended = std::make_shared<std::promise<TextOutcome>>();
  std::future<TextOutcome> outcome = ended->get_future();
  ask(outside, request,
      [ended = std::move(ended)](TextOutcome outcome, std::int32_t) { ended->set_value(std::move(outcome)); });
  try {
    return outcome.get();
  } catch (const std::future_error&) {  // nobody answers any more
    return std::unexpected("the run has ended");
  }
}

std::vector<std::string> python_function_command() {
  return python_command(std::string(python_functions()) + std::string(python_server()));
}

/// As an argument: R takes no expressions of more than 10,000 bytes.
std::vector<std::string> r_function_command() {
  return {"Rscript", "--vanilla", "-e", "eval(parse(text=commandArgs(TRUE),keep.source=FALSE))",
          std::string(r_functions())};
}

Result python(Call call, Arguments arguments, Results) { return run(call, "python", arguments); }

Result python_persist(Call call, Arguments arguments, Results) { return run(call, "python_persist", arguments); }

Result r_language(Call call, Arguments arguments, Results) { return run(call, "R", arguments); }

}  // namespace raddle::stdlib::native
