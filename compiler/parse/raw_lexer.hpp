#pragma once
// The generated lexer, fed with bytes. Private to compiler/parse.
#include <antlr4-runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "RaddleLexer.h"

namespace raddle {

/// The file's bytes as characters. All bytes of multi-byte characters look like DEL: the grammar treats them alike, and
/// ANTLR's tables only cover values below 128 (others take a path that is some 20 times slower).
class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(std::string_view text) : text_(text) {}
  void consume() override { ++position_; }
  std::size_t LA(ssize_t i) override {
    if (i <= 0) return 0;  // ANTLR's lexer never looks back
    const std::size_t at = position_ + static_cast<std::size_t>(i) - 1;
    if (at >= text_.size()) return antlr4::IntStream::EOF;
    return std::min<unsigned char>(static_cast<unsigned char>(text_[at]), 0x7F);
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::size_t index() override { return position_; }
  void seek(std::size_t index) override { position_ = std::min(index, text_.size()); }
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

/// The generated lexer without ANTLR's token objects: next() is a type and a range.
class RawLexer final : public RaddleLexer {
 public:
  explicit RawLexer(ByteStream& bytes) : RaddleLexer(&bytes), bytes_(bytes) { removeErrorListeners(); }
  antlr4::Token* emit() override { return nullptr; }
  antlr4::Token* emitEOF() override {
    type = antlr4::Token::EOF;
    tokenStartCharIndex = bytes_.index();
    return nullptr;
  }
  void restart(std::size_t offset) {
    bytes_.seek(offset);
    hitEOF = offset >= bytes_.size();
  }
  std::uint32_t begin() const { return static_cast<std::uint32_t>(tokenStartCharIndex); }
  std::uint32_t end() { return static_cast<std::uint32_t>(bytes_.index()); }

 private:
  ByteStream& bytes_;
};

}  // namespace raddle
