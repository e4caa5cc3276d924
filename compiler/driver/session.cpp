#include "compiler/driver/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "vm/value/shown_text.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::driver {

bool Session::print_diagnostics() {
  const bool has_errors = diagnostics.has_errors();
  std::size_t warning_count = 0;
  diagnostics.order_by_position(printed_);  // phases find things in an order of their own
  for (; printed_ < diagnostics.all().size(); ++printed_) {
    const Diagnostic& diagnostic = diagnostics.all()[printed_];
    const bool is_warning = severity_of(diagnostic.kind) == Severity::warning;
    if (is_warning) ++warning_count;
    if (options.as_json || (is_warning && options.is_quiet && !options.warnings_are_errors)) continue;
    if (!to_explain_ && severity_of(diagnostic.kind) == Severity::error) to_explain_ = diagnostic.kind;
    const std::string plain = render(diagnostic, sources, /*colour=*/false);
    if (colour && vm::shown_text(plain) == plain)
      vm::draw_on_stderr(render(diagnostic, sources, colour));
    else
      vm::print_stderr("{}", plain);
  }
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

void warn(const std::string& message) { vm::print_stderr("raddle: warning: {}\n", message); }

bool can_redraw(int stream) {
  const char* term = std::getenv("TERM");
  return isatty(stream) != 0 && (term == nullptr || std::string_view(term) != "dumb");
}

bool wants_colour(int stream) { return can_redraw(stream) && std::getenv("NO_COLOR") == nullptr; }

}  // namespace raddle::driver
