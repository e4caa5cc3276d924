#pragma once
#include <vector>

#include "vm/value/array.hpp"
#include "vm/value/bag.hpp"
#include "vm/value/file.hpp"

namespace raddle::vm {

/// All files in a value of elements, however deep.
inline void append_files(std::vector<File*>& files, const Value& value) {
  if (value.kind() == ValueKind::array)
    value.as_array().for_each([&files](const Value&, const Value& element) { append_files(files, element); });
  else if (value.kind() == ValueKind::bag)
    value.as_bag().for_each([&files](const Value& element) { append_files(files, element); });
  else if (value.kind() == ValueKind::file)
    files.push_back(&value.as_file());
}

}  // namespace raddle::vm
