#include "compiler/tool/formats/json_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "compiler/tool/formats/scan.hpp"

namespace raddle::sweep {
namespace {

using Json = nlohmann::ordered_json;

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && std::isdigit(static_cast<unsigned char>(text[at + count])) != 0) ++count;
  return count;
}

// JSON's grammar: no leading zero, digits around the point.
bool is_json_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t decimals = digits_at(text, at + 1);
    if (decimals == 0) return false;
    at += decimals + 1;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    if (++at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t exponent = digits_at(text, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == text.size();
}

constexpr std::size_t escape_size = 6;  // of `\u0041`

/// What `\uXXXX` stands for, if it stands there; else 0.
unsigned escaped_unit(std::string_view text, std::size_t at) {
  if (!text.substr(std::min(at, text.size())).starts_with("\\u") || at + escape_size > text.size()) return 0;
  unsigned unit = 0;
  const char* const digits = text.data() + at + 2;
  const auto [end, fault] = std::from_chars(digits, digits + 4, unit, 16);
  return fault == std::errc() && end == digits + 4 ? unit : 0;
}

// Of what begins there: a string, a number, a word with its sign, or one other character.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  const auto sign = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : '\0'; };
  std::size_t end = at + 1;
  if (text[at] == '"') {
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  const bool is_number = std::isdigit(sign(at)) != 0 || (text[at] == '-' && std::isdigit(sign(end)) != 0);
  const auto goes_on = [&] {
    if (is_number) return std::isalnum(sign(end)) != 0 || sign(end) == '.' || sign(end) == '+' || sign(end) == '-';
    return std::isalpha(sign(end)) != 0 || sign(end) == '-';
  };
  if (is_number || std::isalpha(sign(at)) != 0 || text[at] == '-')
    while (goes_on()) ++end;
  return end;
}

// With NaN, 1e400 and the like as strings: no float of JSON holds them.
std::string with_quoted_numbers(std::string_view text) {
  std::string quoted;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    const bool is_quoted = is_not_finite(word) || (is_json_number(word) && !read_number(word));
    if (is_quoted) quoted += '"';
    quoted += word;
    if (is_quoted) quoted += '"';
    at = end;
  }
  return quoted;
}

// Keeps the text of numbers, which a parsed number does not.
class Members : public nlohmann::json_sax<Json> {
 public:
  std::vector<JsonMember> found;
  bool is_too_deep = false;

  /// @param most_levels  of objects whose members are taken; what lies deeper stays JSON, or, if they are flat, ends it
  Members(std::size_t most_levels, bool are_flat) : most_levels_(most_levels), are_flat_(are_flat) {}

  bool null() override { return value("null", ""); }
  bool boolean(bool is_true) override { return value(is_true ? "true" : "false"); }
  bool number_integer(number_integer_t number) override { return value(std::to_string(number)); }
  bool number_unsigned(number_unsigned_t number) override { return value(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool string(string_t& text) override { return value(json_string(text), text, /*is_string=*/true); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open('{'); }
  bool key(string_t& name) override {
    if (depth_of_json_ == 0) {
      name_ = prefix_ + name;
    } else {
      separate();
      nested_ += json_string(name) + ":";
      is_after_key_ = true;
    }
    return true;
  }
  bool end_object() override { return close('}'); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_array() override { return close(']'); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  void separate() {
    if (!is_after_key_ && nested_.back() != '{' && nested_.back() != '[') nested_ += ',';
    is_after_key_ = false;
  }
  bool value(const std::string& json) { return value(json, json); }
  bool value(const std::string& json, const std::string& text, bool is_string = false) {
    if (levels_ == 0) return false;
    if (depth_of_json_ == 0) {
      found.push_back({name_, text, is_string});
    } else {
      separate();
      nested_ += json;
    }
    return true;
  }
  bool open(char bracket) {
    if (depth_of_json_ == 0 && bracket == '{' && levels_ < most_levels_) {
      if (levels_++ != 0) {
        prefix_sizes_.push_back(prefix_.size());
        prefix_ = name_ + ".";
      }
      return true;
    }
    is_too_deep = are_flat_ && depth_of_json_ == 0 && bracket == '{';
    if (is_too_deep || levels_ == 0) return false;
    if (depth_of_json_++ != 0) separate();
    nested_ += bracket;
    return true;
  }
  bool close(char bracket) {
    if (depth_of_json_ == 0) {
      if (--levels_ == 0) return true;
      prefix_.resize(prefix_sizes_.back());
      prefix_sizes_.pop_back();
      return true;
    }
    nested_ += bracket;
    is_after_key_ = false;
    if (--depth_of_json_ == 0) found.push_back({name_, std::exchange(nested_, ""), false});
    return true;
  }

  const std::size_t most_levels_;
  const bool are_flat_;
  std::size_t levels_ = 0;         // of the objects around, whose members are taken
  std::size_t depth_of_json_ = 0;  // within nested_
  bool is_after_key_ = false;
  std::string prefix_, name_, nested_;
  std::vector<std::size_t> prefix_sizes_;  // of the objects around
};

}  // namespace

std::string with_paired_surrogates(std::string_view text) {
  std::string paired;
  paired.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = text[at] == '\\' ? 2 : 1;
    if (const unsigned first = escaped_unit(text, at); first >= 0xD800 && first < 0xE000) {
      const unsigned second = escaped_unit(text, at + escape_size);
      const bool is_pair = first < 0xDC00 && second >= 0xDC00 && second < 0xE000;
      size = is_pair ? 2 * escape_size : escape_size;
      if (!is_pair) {
        paired += "\\ufffd";
        at += size;
        continue;
      }
    }
    paired += text.substr(at, size);
    at += size;
  }
  return paired;
}

std::string json_string(std::string_view text) {
  const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\'; };
  if (std::ranges::all_of(text, is_plain)) {  // mostly: much faster
    std::string quoted;
    quoted.reserve(text.size() + 2);
    return quoted.append(1, '"').append(text).append(1, '"');
  }
  return nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_value(std::string_view text) {
  const bool is_value = (is_json_number(text) && read_number(text)) || text == "true" || text == "false";
  return is_value ? std::string(text) : json_string(text);
}

void JsonObject::add(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += json_string(name);
  members_ += ':';
  members_ += value;
}

std::string json_of(const JsonMember& member) {
  if (member.is_string) return json_string(member.text);
  return member.text.empty() ? "null" : json_value(member.text);
}

std::vector<JsonMember> typed_members(const std::string& object) {
  Members members(1, /*are_flat=*/false);
  if (Json::sax_parse(object, &members)) return std::move(members.found);
  Members quoted(1, /*are_flat=*/false);  // an earlier raddle has recorded 1e400 as a number
  if (object.empty() || !Json::sax_parse(with_quoted_numbers(object), &quoted)) return {};
  return std::move(quoted.found);
}

std::vector<std::pair<std::string, std::string>> json_members(const std::string& object) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (JsonMember& member : typed_members(object)) texts.emplace_back(std::move(member.name), std::move(member.text));
  return texts;
}

std::optional<std::vector<JsonMember>> flat_members(const std::string& object, std::size_t most_levels) {
  Members members(most_levels, /*are_flat=*/true);
  if (Json::sax_parse(with_quoted_numbers(object), &members)) return std::move(members.found);
  if (members.is_too_deep) return std::nullopt;
  return std::vector<JsonMember>();
}

}  // namespace raddle::sweep
