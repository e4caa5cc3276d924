// trace, printf: what a script prints.
#include <cstdlib>
#include <cstring>

#include "stdlib/native/format.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/output.hpp"
#include "vm/external/outside.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

bool printf_adds_newline() {
  static const bool adds = [] {
    const char* const setting = std::getenv("TURBINE_PRINTF_NL");
    return setting == nullptr || std::strcmp(setting, "0") != 0;
  }();
  return adds;
}

std::string trace_line(Arguments values) {
  std::string line = "trace: ";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) line += ',';
    line += vm::to_text(values[i]);
  }
  return line += '\n';
}

}  // namespace

void print(const vm::RunSettings& settings, std::string_view text) {
  if (settings.print)
    settings.print(text);
  else
    print_text(text);
}

Result trace(Call call, Arguments arguments, Results results) {
  print(call.settings, trace_line(arguments));
  return give_void(results);
}

Result sleep_trace(Call call, Arguments arguments, Results) {
  return end_after(call, arguments[0].as_float(),
                   [&settings = call.settings, line = trace_line(arguments.subspan(1))] { print(settings, line); });
}

Result printf_(Call call, Arguments arguments, Results results) {
  auto text = format_text(arguments[0].as_string(), arguments.subspan(1));
  if (!text) return fail("printf: " + text.error());
  if (printf_adds_newline()) *text += '\n';
  print(call.settings, *text);
  return give_void(results);
}

}  // namespace raddle::stdlib::native
