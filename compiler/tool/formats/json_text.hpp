#pragma once
// JSON as it is written into the record and into tables.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::sweep {

/// In quotes, escaped; bytes that are no UTF-8 are replaced.
std::string json_string(std::string_view text);

/// A number or boolean if the text is one by JSON's grammar, and a float can hold it; else a string.
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

/// JSON in which a half of a surrogate pair, which is no character, is U+FFFD.
std::string with_paired_surrogates(std::string_view text);

struct JsonMember {
  std::string name, text;
  bool is_string = false;  ///< what a string looks like plays no part; an empty text that is none is null
};
/// JSON from which such a member is read back.
std::string json_of(const JsonMember& member);
/// The same as json_members(), with types.
std::vector<JsonMember> typed_members(const std::string& object);
/// Those of objects that are members, too, as `outer.inner`, down to so many levels. What many programs write though
/// JSON has it not, NaN and Infinity, are members like others.
/// @return nothing if it is deeper
std::optional<std::vector<JsonMember>> flat_members(const std::string& object, std::size_t most_levels);

}  // namespace raddle::sweep
