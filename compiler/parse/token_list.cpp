#include "compiler/parse/token_list.hpp"

namespace raddle {

antlr4::Token* TokenList::LT(ssize_t k) {
  if (k == 0) return nullptr;
  if (k > 0) return &at(position_ + static_cast<std::size_t>(k) - 1);
  const auto back = static_cast<std::size_t>(-k);
  return back > position_ ? nullptr : &tokens_[position_ - back];
}

std::size_t TokenList::LA(ssize_t k) {
  if (k == 1) return tokens_[position_].getType();
  const antlr4::Token* token = LT(k);
  return token == nullptr ? antlr4::Token::INVALID_TYPE : token->getType();
}

antlr4::Token* TokenList::get(std::size_t index) const {
  // ANTLR's interface hands out mutable tokens from a const stream.
  return const_cast<SourceToken*>(&tokens_[std::min(index, tokens_.size() - 1)]);
}

}  // namespace raddle
