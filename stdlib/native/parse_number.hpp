#pragma once
// Numbers in texts, independent of the locale.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::stdlib::native {

/// Without white space at both ends.
std::string_view trimmed(std::string_view text);

/// Spaces around, a sign and 0x, 0o, 0b are accepted; a leading 0 does not mean octal. Empty if it is no int64.
std::optional<std::int64_t> read_int(std::string_view text);
/// Spaces around and a sign are accepted, also inf, nan and what read_int reads. See vm::float_of_text().
std::optional<double> read_float(std::string_view text);

/// true/yes/y/t/on and numbers other than 0, false/no/n/f/off and 0; in any case, spaces around are accepted.
std::optional<bool> read_boolean(std::string_view text);

/// @param base  2 to 36; 16 accepts a leading 0x
/// @return      the text of the error
std::expected<std::int64_t, std::string> parse_int(std::string_view text, std::int64_t base);

}  // namespace raddle::stdlib::native
