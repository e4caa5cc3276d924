#pragma once
// A script's text after preprocessing, and where each part of it was written.
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source_buffer.hpp"

namespace raddle {

/// How a part of the expanded text relates to the file that it comes from.
enum class PartOrigin : std::uint8_t {
  copied,   ///< it is written there, byte for byte
  replaced  ///< it was made by a macro that is used there
};

/// Made by compiler/preprocess, read by compiler/parse: positions found in text() are told as spans of the files
/// written.
class ExpandedText {
 public:
  const std::string& text() const { return text_; }
  bool ends_with_replaced() const { return !parts_.empty() && parts_.back().origin == PartOrigin::replaced; }
  /// @param from  copied: as long as `part`
  void append(std::string_view part, Span from, PartOrigin origin);
  /// Where the end of the text is. Call it when all is appended.
  void end_at(Span end) { end_ = end; }
  /// The range written for the bytes [begin, end) of text(): within one file, that of the first byte.
  Span span(std::uint32_t begin, std::uint32_t end) const;

 private:
  struct Part {
    std::uint32_t begin = 0;
    Span from;
    PartOrigin origin = PartOrigin::copied;
  };
  const Part& part_at(std::uint32_t offset) const;

  std::string text_;
  std::vector<Part> parts_;  ///< by `begin`; none is empty
  Span end_;
};

}  // namespace raddle
