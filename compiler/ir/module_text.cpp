#include "compiler/ir/module_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace raddle::ir {

ModuleText::ModuleText(std::vector<Token> tokens, TypeStore& types) : tokens_(std::move(tokens)) {
  module.types = &types;
  for (const char* basic :
       {"int", "float", "string", "boolean", "void", "blob", "file", "url", "updateable_float", "int32", "float32"})
    named_types_.emplace(basic, static_cast<TypeId>(named_types_.size() + TypeStore::int_));
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].kind != Kind::word) continue;
    if (tokens_[i].text == "struct" && tokens_[i + 1].kind == Kind::word)
      named_types_[tokens_[i + 1].text] = types.new_structure(tokens_[i + 1].text, {});
    if (tokens_[i].text == "function" && tokens_[i + 1].kind == Kind::function)
      module.functions.emplace_back().name = tokens_[i + 1].text;
  }
}

void ModuleText::fail(const std::string& text) const { throw Fault{fmt::format("line {}: {}", peek().line, text)}; }

std::string ModuleText::expect(Kind kind, const char* what) {
  if (peek().kind != kind) fail(fmt::format("expected {}, found `{}`", what, peek().text));
  return take().text;
}

void ModuleText::expect(char c) {
  if (!accept(c)) fail(fmt::format("expected `{}`, found `{}`", c, peek().text));
}

bool ModuleText::accept(Kind kind, std::string_view text) {
  if (!is(kind, text)) return false;
  take();
  return true;
}

std::int64_t ModuleText::integer() {
  const std::string text = expect(Kind::number, "a number");
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

FunctionId ModuleText::function_named(const std::string& name) const {
  const FunctionId id = module.find(name);
  if (id == none) fail("unknown function @" + name);
  return id;
}

TypeId ModuleText::type() {
  const std::string word = expect(Kind::word, "a type");
  TypeId type = TypeStore::error;
  if (word == "bag") {
    expect('<');
    type = module.types->bag_of(this->type());
    expect('>');
  } else {
    const auto found = named_types_.find(word);
    if (found == named_types_.end()) fail("unknown type `" + word + "`");
    type = found->second;
  }
  std::vector<TypeId> keys;
  while (accept('[')) {
    if (accept(':')) {  // a dense array: the last bracket
      std::uint32_t rank = 1;
      for (; accept(','); ++rank) expect(':');
      expect(']');
      type = module.types->dense_of(type, rank);
      break;
    }
    keys.push_back(is(Kind::punctuation, "]") ? TypeStore::int_ : this->type());
    expect(']');
  }
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) type = module.types->array_of(*key, type);
  return type;
}

}  // namespace raddle::ir
