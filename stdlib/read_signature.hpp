#pragma once
// The only reader of the signatures of builtins.def. All of it can run while Raddle is compiled, so that a malformed
// one does not compile.
#include <stdexcept>
#include <string_view>

#include "stdlib/signature.hpp"

namespace raddle::stdlib {

class SignatureReader {
 public:
  explicit constexpr SignatureReader(std::string_view text) : text_(text) {}

  constexpr BuiltinSignature read() {
    if (accept('(')) {
      if (!accept(')')) {
        do signature_.outputs.push_back(read_type());
        while (accept(','));
        expect(')');
      }
    } else {
      signature_.outputs.push_back(read_type());
    }
    expect('(');
    if (!accept(')')) {
      do signature_.inputs.push_back(read_input());
      while (accept(','));
      expect(')');
    }
    skip_spaces();
    if (at_ != text_.size()) fail("something stands after it");
    return signature_;
  }

 private:
  /// Not constexpr: what calls it is no constant.
  [[noreturn]] static void fail(const char* what) { throw std::logic_error(what); }

  constexpr char next() const { return at_ < text_.size() ? text_[at_] : 0; }
  constexpr void skip_spaces() {
    while (next() == ' ') ++at_;
  }
  constexpr bool accept(char c) {
    skip_spaces();
    if (next() != c) return false;
    ++at_;
    return true;
  }
  constexpr void expect(char c) {
    if (!accept(c)) fail("a bracket or comma is missing");
  }
  static constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
  static constexpr bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') || c == '_';
  }
  constexpr SignatureSlice slice_from(std::size_t begin) const {
    if (at_ > 255) fail("the text is too long");
    return {static_cast<std::uint8_t>(begin), static_cast<std::uint8_t>(at_ - begin)};
  }
  constexpr SignatureSlice read_word() {
    skip_spaces();
    const std::size_t begin = at_;
    while (is_of_word(next())) ++at_;
    if (at_ == begin) fail("a word is missing");
    return slice_from(begin);
  }

  constexpr NamedType read_name() {
    using enum BasicType;
    const std::string_view word = read_word().of(text_);
    if (word.size() == 1 && is_upper(word[0])) return {variable, word[0]};
    if (word == "int") return {int_};
    if (word == "float") return {float_};
    if (word == "string") return {string};
    if (word == "boolean") return {boolean};
    if (word == "int32") return {int32};
    if (word == "float32") return {float32};
    if (word == "void") return {void_};
    if (word == "blob") return {blob};
    if (word == "file") return {file};
    if (word == "url") return {url};
    if (word == "updateable_float") return {updateable_float};
    fail("no such type");
  }

  constexpr SignatureType read_type() {
    SignatureType type;
    skip_spaces();
    if (text_.substr(at_).starts_with("bag<")) {
      at_ += 4;
      type.is_bag = true;
      type.element = read_name();
      expect('>');
    } else {
      type.element = read_name();
    }
    type.is_existing = accept('!');
    while (accept('[')) {
      if (accept(']')) {
        type.keys.push_back({BasicType::int_});
      } else {
        type.keys.push_back(read_name());
        expect(']');
      }
    }
    return type;
  }

  constexpr SignatureInput read_input() {
    if (signature_.has_varargs) fail("an input stands after those of any number");
    SignatureInput input;
    if (accept('&')) input.mark = accept('&') ? InputMark::reference : InputMark::closed;
    do input.alternatives.push_back(read_type());
    while (accept('|'));
    if (text_.substr(at_).starts_with("...")) {
      at_ += 3;
      signature_.has_varargs = true;
    }
    input.name = read_word();
    input.has_default = accept('=');
    if (input.has_default) input.default_value = read_default(input);
    signature_.has_process_count = input.has_default && input.name.of(text_) == "par";
    return input;
  }

  constexpr SignatureSlice read_default(const SignatureInput& input) {
    if (input.alternatives[0].is(BasicType::string)) {
      expect('"');
      const std::size_t begin = at_;
      while (at_ < text_.size() && next() != '"') ++at_;
      const SignatureSlice inside = slice_from(begin);
      expect('"');
      return inside;
    }
    skip_spaces();
    const std::size_t begin = at_;
    while (is_of_word(next()) || next() == '.' || next() == '-') ++at_;
    if (at_ == begin) fail("a default is missing");
    return slice_from(begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  BuiltinSignature signature_;
};

/// @throws std::logic_error  malformed
constexpr BuiltinSignature read_signature(std::string_view text) { return SignatureReader(text).read(); }

}  // namespace raddle::stdlib
