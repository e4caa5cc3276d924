#pragma once
// The text of a module as its readers go through it, and what its names mean.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/module.hpp"
#include "compiler/ir/text_tokens.hpp"

namespace raddle::ir {

/// Thrown at the first fault and caught in read_text().
struct Fault {
  std::string text;
};

class ModuleText {
 public:
  using Kind = Token::Kind;

  /// Structures and functions may be named before they are defined.
  ModuleText(std::vector<Token> tokens, TypeStore& types);

  const Token& peek() const { return tokens_[at_]; }
  [[noreturn]] void fail(const std::string& text) const;
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  std::string expect(Kind kind, const char* what);
  void expect(char c);
  bool is(Kind kind, std::string_view text) const { return peek().kind == kind && peek().text == text; }
  bool accept(Kind kind, std::string_view text);
  bool accept_word(std::string_view text) { return accept(Kind::word, text); }
  bool accept(char c) { return accept(Kind::punctuation, std::string_view(&c, 1)); }
  std::int64_t integer();
  Span position(Span otherwise = {}) { return peek().kind == Kind::position ? take().span : otherwise; }

  FunctionId function_named(const std::string& name) const;
  TypeId type();
  void name_type(const std::string& name, TypeId type) { named_types_[name] = type; }
  /// @pre it is a structure of the text
  TypeId structure_named(const std::string& name) const { return named_types_.at(name); }

  Module module;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::unordered_map<std::string, TypeId> named_types_;
};

}  // namespace raddle::ir
