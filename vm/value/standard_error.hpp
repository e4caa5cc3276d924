#pragma once
// What is said on standard error. Nothing ends because it can not be written there: it is closed, or its disk is full.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

template <typename... Values>
void print_stderr(fmt::format_string<Values...> form, Values&&... values) {
  static_cast<void>(write_all(STDERR_FILENO, fmt::format(form, std::forward<Values>(values)...)));
}

}  // namespace raddle::vm
