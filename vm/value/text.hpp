#pragma once
// How values read as text: one format for printf, trace, concatenation, app words.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vm/value/value.hpp"

namespace raddle::vm {

/// Shortest text that reads back to the same double; always with `.` or an exponent: 1.0, 0.1, 1e+17, 1e-5, Inf, -Inf,
/// NaN. Exponents from 1e17 up and below 1e-4, sign when positive, no zero padding.
std::string float_text(double value);
void append_float(std::string& text, double value);
/// The same that reads back to the same float: 0.1, not 0.10000000149011612.
std::string float32_text(float value);

/// The number that all of the text is, also `inf` and `nan`; what is too small for a double is 0, or the smallest one.
/// Empty if it is none, or too large.
std::optional<double> float_of_text(std::string_view text);
/// The same of a float: the one that is nearest to what the text says.
std::optional<float> float32_of_text(std::string_view text);
/// `1e400`: the text is a number, but no double.
bool is_beyond_floats(std::string_view text);

/// int, float, int32, float32, boolean (1/0), string, file (its path). Other kinds: what `repr` prints.
std::string to_text(const Value& value);

/// A result of a script, as it could be given for a parameter: as to_text, but booleans as words.
std::string result_text(const Value& value);

/// A key as a script writes it, for messages: strings in quotes, booleans as words.
std::string key_text(const Value& key);

/// What stands between the brackets of an element: its key, or the indices of a dense array, "3, 5".
/// @param extents  of the array, none of a growing one
std::string index_text(std::span<const std::int64_t> extents, const Value& key);

}  // namespace raddle::vm
