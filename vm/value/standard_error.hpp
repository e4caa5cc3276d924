#pragma once
// What is said on standard error. Nothing ends because it can not be written there: it is closed, or its disk is full.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "vm/value/file_descriptor.hpp"
#include "vm/value/shown_text.hpp"

namespace raddle::vm {

/// As write_text().
template <typename... Values>
void print_stderr(fmt::format_string<Values...> form, Values&&... values) {
  static_cast<void>(write_text(STDERR_FILENO, fmt::format(form, std::forward<Values>(values)...)));
}

/// With escape sequences of our own.
inline void draw_on_stderr(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

}  // namespace raddle::vm
