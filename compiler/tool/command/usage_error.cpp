#include "compiler/tool/command/usage_error.hpp"

#include "compiler/tool/command/session.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

int usage_error(const std::string& message, const std::string& verb) {
  vm::print_stderr("raddle: {}\ntry `raddle {}--help`\n", message, verb.empty() ? "" : verb + " ");
  return exit_usage;
}

}  // namespace raddle::tool
