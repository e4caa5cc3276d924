#pragma once
// Values and their types in messages between processes of Raddle.
#include <string>

#include "vm/foreign/message.hpp"
#include "vm/program/program.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// A letter that tells its kind, then what it holds (value_message.cpp has them).
/// @param value  set, deeply
void put_value(std::string& to, const Value& value);
/// What put_value() has written, or somebody else; nothing of it is trusted.
/// @param type  has the names of structures' fields; must outlive the value   @return void: the message is not ok
Value take_value(MessageReader& reader, const ForeignType& type);

void put_type(std::string& to, const ForeignType& type);
ForeignType take_type(MessageReader& reader);

}  // namespace raddle::vm
