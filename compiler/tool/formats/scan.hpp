#pragma once
// Words of the command line cut into parts that know where they stand.
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/tool/formats/argument_error.hpp"

namespace raddle::sweep {

/// Part of a word of the command line.
struct Part {
  std::string_view text;
  std::size_t begin = 0;  ///< its first byte in the word
  std::size_t end() const { return begin + text.size(); }
  Part sub(std::size_t from, std::size_t count = std::string_view::npos) const {
    return {text.substr(from, count), begin + from};
  }
};

inline std::unexpected<ArgumentError> error_at(const Part& part, std::string message, std::string help = "") {
  return std::unexpected(ArgumentError{std::move(message), part.begin, part.end(), std::move(help)});
}

/// At each `separator` that stands outside of brackets and quotes and not behind a backslash; at least one part. They
/// are without the blanks around them. Quotes are those that a part begins with.
std::vector<Part> split(const Part& whole, char separator);

/// `name(a,b)`.
struct FunctionCall {
  Part name;
  std::vector<Part> arguments;
};
/// @return nothing if it has not that form
std::optional<FunctionCall> read_call(const Part& whole);

/// What stands between quotes, `""` for one of them; nothing if they do not end with the text.
std::optional<std::string> unquoted(std::string_view text);
/// Without the backslashes of `\,` and `\:`.
std::string unescaped(std::string_view text);

/// Decimal, finite; the whole text.
std::optional<double> read_number(std::string_view text);
/// `nan`, `inf` or `infinity`, in letters of any size, and perhaps with `-`: what programs write of such numbers.
bool is_not_finite(std::string_view text);
/// @pre  type_of(text) is int_
std::int64_t read_int(std::string_view text);
std::optional<std::uint64_t> read_count(std::string_view text);

/// `[A-Za-z_][A-Za-z0-9_]*`
bool is_name(std::string_view text);

/// U, N, logU.
bool is_distribution(std::string_view name);

}  // namespace raddle::sweep
