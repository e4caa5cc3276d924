#include "compiler/tool/command/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "compiler/tool/formats/quantities.hpp"
#include "vm/value/shown_text.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

namespace {

constexpr std::size_t most_told = 100;  ///< of the errors in a script, and of the warnings

/// What a run finds is never left out: each failure may have a cause of its own.
bool is_of_run(DiagnosticKind kind) { return kind == DiagnosticKind::run_time || kind == DiagnosticKind::never_set; }

void tell_left_out(std::size_t count, std::string_view noun) {
  if (count == 0) return;
  vm::print_stderr("raddle: {} {} not shown: the first {} are\n", sweep::counted(count, noun),
                   count == 1 ? "is" : "are", most_told);
}

}  // namespace

bool Session::print_diagnostics() {
  const bool has_errors = diagnostics.has_errors();
  std::size_t warning_count = 0, error_count = 0, errors_left_out = 0, warnings_left_out = 0;
  diagnostics.order_by_position(printed_);  // phases find things in an order of their own
  for (; printed_ < diagnostics.all().size(); ++printed_) {
    const Diagnostic& diagnostic = diagnostics.all()[printed_];
    const bool is_warning = severity_of(diagnostic.kind) == Severity::warning;
    if (is_warning) ++warning_count;
    if (options.as_json || (is_warning && options.is_quiet && !options.warnings_are_errors)) continue;
    if (!to_explain_ && !is_warning) to_explain_ = diagnostic.kind;
    if (!is_warning && !is_of_run(diagnostic.kind)) ++error_count;
    if ((is_warning ? warning_count : error_count) > most_told) {
      ++(is_warning ? warnings_left_out : errors_left_out);
      continue;
    }
    const std::string plain = render(diagnostic, sources, /*colour=*/false);
    if (colour && vm::shown_text(plain) == plain)
      vm::draw_on_stderr(render(diagnostic, sources, colour));
    else
      vm::print_stderr("{}", plain);
  }
  tell_left_out(errors_left_out, "more error");
  tell_left_out(warnings_left_out, "more warning");
  const bool refused = options.warnings_are_errors && warning_count > 0;
  if (refused && !has_errors && !options.as_json)
    vm::print_stderr("raddle: {} because of `-W error`\n", warning_count == 1
                                                               ? "the warning is an error"
                                                               : fmt::format("{} warnings are errors", warning_count));
  offer_explanation();
  return has_errors || refused;
}

void Session::offer_explanation() {
  if (!to_explain_ || explanation_offered_ || options.is_quiet || options.as_json || isatty(STDERR_FILENO) == 0) return;
  vm::print_stderr("`raddle explain {}` says more\n", name_of(*to_explain_));
  explanation_offered_ = true;
}

std::string json_line(std::string_view members) { return fmt::format("{{\"schema\":1,{}}}\n", members); }

bool write_output(std::string_view text) {
  const bool had_failed = std::ferror(stdout) != 0;
  const std::string clean = isatty(STDOUT_FILENO) != 0 ? vm::shown_text(text) : vm::valid_text(text);
  if (!had_failed && std::fwrite(clean.data(), 1, clean.size(), stdout) == clean.size() && std::fflush(stdout) == 0)
    return true;
  static bool told = false;  // the output is one for the whole process
  if (!std::exchange(told, true)) vm::print_stderr("raddle: standard output could not be written\n");
  return false;
}

std::string cut_on_terminal(const std::string& text) {
  return isatty(STDOUT_FILENO) != 0 ? sweep::shortened(text) : text;
}

void warn(const std::string& message) { vm::print_stderr("raddle: warning: {}\n", message); }

bool can_redraw(int stream) {
  const char* const variable = std::getenv("TERM");
  const std::string_view term = variable == nullptr ? "" : variable;
  return isatty(stream) != 0 && !term.empty() && term != "dumb";
}

bool wants_colour(int stream) { return can_redraw(stream) && std::getenv("NO_COLOR") == nullptr; }

}  // namespace raddle::tool
