#pragma once
// JSON as it is written into the record and into tables.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::sweep {

/// In quotes, escaped; bytes that are no UTF-8 are replaced.
std::string json_string(std::string_view text);

/// A number if the text is one by JSON's grammar, else a string.
std::string json_value(std::string_view text);

/// Written member by member.
class JsonObject {
 public:
  /// @param value  JSON
  void add(std::string_view name, std::string_view value);
  void add_text(std::string_view name, std::string_view text) { add(name, json_value(text)); }
  std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

/// The members of an object as texts: strings without quotes, null as nothing, numbers as they are written; what is
/// nested stays JSON. Empty if it is no object.
std::vector<std::pair<std::string, std::string>> json_members(const std::string& object);

/// With NaN, Infinity and the like as strings: many programs write them, but JSON has no such numbers.
std::string with_quoted_numbers(std::string_view text);

}  // namespace raddle::sweep
