// trace, printf: what a script prints.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "stdlib/native/format.hpp"
#include "stdlib/native/functions.hpp"
#include "stdlib/native/output.hpp"
#include "vm/value/text.hpp"

namespace raddle::stdlib::native {
namespace {

bool printf_adds_newline() {
  static const bool adds = [] {
    const char* const setting = std::getenv("TURBINE_PRINTF_NL");
    return setting == nullptr || std::strcmp(setting, "0") != 0;
  }();
  return adds;
}

void print_trace(Arguments values) {
  std::string line = "trace: ";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) line += ',';
    line += vm::to_text(values[i]);
  }
  print_text(line += '\n');
}

}  // namespace

Result trace(Call, Arguments arguments, Results results) {
  print_trace(arguments);
  return give_void(results);
}

Result sleep_trace(Call, Arguments arguments, Results results) {
  if (arguments[0].as_float() > 0) std::this_thread::sleep_for(std::chrono::duration<double>(arguments[0].as_float()));
  print_trace(arguments.subspan(1));
  return give_void(results);
}

Result printf_(Call, Arguments arguments, Results results) {
  auto text = format_text(arguments[0].as_string(), arguments.subspan(1));
  if (!text) return fail("printf: " + text.error());
  if (printf_adds_newline()) *text += '\n';
  print_text(*text);
  return give_void(results);
}

}  // namespace raddle::stdlib::native
