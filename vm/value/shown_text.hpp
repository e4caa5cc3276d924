#pragma once
// Text of others - programs, parameters, names of files - as it may leave: what is no UTF-8 is replaced, and no
// terminal obeys it.
#include <string>
#include <string_view>

namespace raddle::vm {

/// With U+FFFD for each byte that belongs to no character.
std::string valid_text(std::string_view text);

/// For a terminal: valid, without colours, and other control characters but for newlines and tabs as `\x1b`.
std::string shown_text(std::string_view text);

/// Writes it as shown_text() to a terminal, as valid_text() elsewhere. @return 0, or an errno
int write_text(int fd, std::string_view text);

}  // namespace raddle::vm
