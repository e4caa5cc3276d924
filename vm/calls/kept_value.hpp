#pragma once
// Values as bytes, for keys of calls and for results that are kept on disk. The form is not for other machines.
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vm/program/program.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// What stands for a complete file. @error  why nothing can
using FileWriter = std::function<std::expected<std::string, std::string>(File& file)>;
/// The file for what FileWriter has written. @return none if there is none any more
using FileReader = std::function<Value(std::string_view text)>;

/// Appends `value`, in which all is set. Equal values give equal bytes; bags, too, whatever the order in which they
/// were filled.
/// @error  what is in it that can not be written
std::expected<void, std::string> append_value(std::string& bytes, const Value& value, const FileWriter& file);

/// Takes a value of the type from the front of `bytes`. @return none if what is there is no such value
/// @param type  lives as long as the value: structures refer to its names
Value take_value(std::string_view& bytes, const ForeignType& type, const FileReader& file);

/// A length and the bytes.
void append_text(std::string& bytes, std::string_view text);
std::optional<std::string_view> take_text(std::string_view& bytes);

/// For people: `3`, `"text"`, `array, 1000 elements, #0f3a..`: the hash is that of the bytes.
/// @param bytes  of append_value
std::string shown_value(const Value& value, std::string_view bytes);

}  // namespace raddle::vm
