#pragma once
// The tokens of one file, as ANTLR's parser wants them. Made by tokenize(); private to compiler/parse.
#include <antlr4-runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "RaddleLexer.h"
#include "compiler/diagnostics/diagnostics.hpp"
#include "compiler/source/expanded_text.hpp"
#include "compiler/source/source_buffer.hpp"

namespace raddle {

/// A token without text of its own: half-open byte range [begin, end) of the text that is parsed.
class SourceToken final : public antlr4::Token {
 public:
  static constexpr std::uint32_t no_partner = ~0u;
  static constexpr std::uint32_t end_of_file = ~0u;  ///< ANTLR's Token::EOF in 32 bits
  SourceToken(std::uint32_t type, std::uint32_t index, std::uint32_t begin, std::uint32_t end)
      : type(type), index(index), begin(begin), end(end) {}

  std::uint32_t type;
  std::uint32_t index;
  std::uint32_t begin, end;
  std::uint32_t partner = no_partner;  ///< index of the matching bracket
  std::uint32_t depth = 0;             ///< of brackets that are open here; one that opens counts itself
  bool first_on_line = false;          ///< nothing but blanks and comments before it
  bool reported = false;               ///< wrong in itself, and a diagnostic says so

  std::string getText() const override { return {}; }
  std::size_t getType() const override { return type == end_of_file ? EOF : type; }
  std::size_t getLine() const override { return 0; }
  std::size_t getCharPositionInLine() const override { return 0; }
  std::size_t getChannel() const override { return DEFAULT_CHANNEL; }
  std::size_t getTokenIndex() const override { return index; }
  std::size_t getStartIndex() const override { return begin; }
  std::size_t getStopIndex() const override { return end == 0 ? 0 : end - 1; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }
};

/// All tokens of a file (the last one is the end of file) and a reading position.
class TokenList final : public antlr4::TokenStream {
 public:
  /// @param expanded  what is parsed instead of the file's own text, or null
  TokenList(std::uint32_t file, const SourceMap& sources, const ExpandedText* expanded)
      : file_(file),
        sources_(sources),
        expanded_(expanded),
        text_(expanded == nullptr ? sources.at(file).text() : expanded->text()) {}

  std::vector<SourceToken>& tokens() { return tokens_; }
  SourceToken& at(std::size_t index) { return tokens_[std::min(index, tokens_.size() - 1)]; }
  SourceToken& next(std::size_t ahead = 0) { return at(position_ + ahead); }
  const SourceMap& sources() const { return sources_; }
  /// What is parsed; the ranges of tokens refer to it.
  std::string_view text() const { return text_; }
  /// Where it is written. All positions told to the user and kept in the tree are such spans.
  Span span(std::uint32_t begin, std::uint32_t end) const {
    return expanded_ == nullptr ? Span{file_, begin, end} : expanded_->span(begin, end);
  }
  Span span(const antlr4::Token& token) const {
    const auto& at = static_cast<const SourceToken&>(token);
    return span(at.begin, at.end);
  }
  std::string_view text(const antlr4::Token& token) const {
    const auto& at = static_cast<const SourceToken&>(token);
    return text_.substr(at.begin, at.end - at.begin);
  }
  std::uint32_t file() const { return file_; }

  // What ANTLR's parser asks.
  antlr4::Token* LT(ssize_t k) override;
  std::size_t LA(ssize_t k) override;
  void consume() override {
    if (position_ + 1 < tokens_.size()) ++position_;
  }
  std::size_t index() override { return position_; }
  void seek(std::size_t index) override { position_ = std::min(index, tokens_.size() - 1); }
  std::size_t size() override { return tokens_.size(); }
  antlr4::Token* get(std::size_t index) const override;
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::string getSourceName() const override { return sources_.at(file_).path(); }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  std::uint32_t file_;
  const SourceMap& sources_;
  const ExpandedText* expanded_;
  std::string_view text_;
  std::vector<SourceToken> tokens_;
  std::size_t position_ = 0;
};

/// Cuts the file into tokens, pairs its brackets, and reports what is no token.
TokenList tokenize(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics,
                   const ExpandedText* expanded = nullptr);

}  // namespace raddle
