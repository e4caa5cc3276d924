#include "vm/value/environment_path.hpp"

#include <cstdlib>

namespace raddle::vm {

std::string environment_path(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

}  // namespace raddle::vm
