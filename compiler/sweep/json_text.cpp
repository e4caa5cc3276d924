#include "compiler/sweep/json_text.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "compiler/sweep/scan.hpp"

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

// Of what begins there: a string, a word with its sign, or one other character.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  const auto is_part = [&](std::size_t i) {
    return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-');
  };
  const bool is_string = text[at] == '"', is_word = is_part(at);
  if (!is_string && !is_word) return at + 1;
  std::size_t end = at + 1;
  if (is_word)
    while (is_part(end)) ++end;
  else
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(is_word ? end : end + 1, text.size());
}

// Keeps the text of numbers, which a parsed number does not.
class Members : public nlohmann::json_sax<Json> {
 public:
  std::vector<std::pair<std::string, std::string>> found;

  bool null() override { return value("null", ""); }
  bool boolean(bool is_true) override { return value(is_true ? "true" : "false"); }
  bool number_integer(number_integer_t number) override { return value(std::to_string(number)); }
  bool number_unsigned(number_unsigned_t number) override { return value(std::to_string(number)); }
  bool number_float(number_float_t, const string_t& text) override { return value(text); }
  bool string(string_t& text) override { return value(json_string(text), text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open('{'); }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      name_ = name;
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
    if (!is_after_key_ && !nested_.empty() && nested_.back() != '{' && nested_.back() != '[') nested_ += ',';
    is_after_key_ = false;
  }
  bool value(const std::string& json) { return value(json, json); }
  bool value(const std::string& json, const std::string& text) {
    if (depth_ == 0) return false;
    if (depth_ == 1) {
      found.emplace_back(name_, text);
    } else {
      separate();
      nested_ += json;
    }
    return true;
  }
  bool open(char bracket) {
    if (depth_++ == 0) return bracket == '{';
    separate();
    nested_ += bracket;
    return true;
  }
  bool close(char bracket) {
    if (--depth_ == 0) return true;
    nested_ += bracket;
    if (depth_ == 1) found.emplace_back(name_, std::exchange(nested_, ""));
    return true;
  }

  int depth_ = 0;
  bool is_after_key_ = false;
  std::string name_, nested_;
};

}  // namespace

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
  const bool is_value = is_json_number(text) || text == "true" || text == "false";
  return is_value ? std::string(text) : json_string(text);
}

void JsonObject::add(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += json_string(name);
  members_ += ':';
  members_ += value;
}

std::string with_quoted_numbers(std::string_view text) {
  std::string quoted;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    const bool is_number = is_not_finite(word);
    if (is_number) quoted += '"';
    quoted += word;
    if (is_number) quoted += '"';
    at = end;
  }
  return quoted;
}

std::vector<std::pair<std::string, std::string>> json_members(const std::string& object) {
  Members members;
  if (!Json::sax_parse(object, &members)) return {};
  return std::move(members.found);
}

}  // namespace raddle::sweep
